// Tells the style sheet how high the notices are, so that in small windows, where they are fixed at the bottom, the
// focused element is scrolled above them, and the end of the page as well.

export function begin({ root, signal }) {
  const notices = root.querySelector(".notices");
  const { style } = document.documentElement;
  let maxHeight = 0; // the space stays while the item is open: nothing moves when a notice disappears

  const measure = () => {
    maxHeight = Math.max(maxHeight, notices.offsetHeight);
    style.setProperty("--notices-overlay-height", `${notices.offsetHeight}px`);
    style.setProperty("--notices-scroll-room", `${maxHeight}px`);
  };

  measure(); // before the initial focus
  const observer = new ResizeObserver(measure);
  observer.observe(notices);
  signal.addEventListener("abort", () => observer.disconnect());
}
