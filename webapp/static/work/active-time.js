// Measures the active time on an item: while the page is visible, up to ACTIVE_MS after each sign of activity.
const ACTIVE_MS = 30_000;
const ACTIVITY_EVENTS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove", "input"];

export function begin(view) {
  const { form, signal } = view;
  const storageKey = `leaseq active ${view.key} ${form.dataset.token}`;
  let total = Number(sessionStorage.getItem(storageKey));
  let countedTo = isVisible() ? performance.now() : null; // null: nobody was looking at the page

  const count = () => {
    const now = performance.now();
    if (countedTo !== null) total += Math.min(now - countedTo, ACTIVE_MS);
    countedTo = isVisible() ? now : null;
  };

  view.measureActiveMs = () => {
    count();
    return Math.round(total);
  };
  for (const type of ACTIVITY_EVENTS) document.addEventListener(type, count, { passive: true, signal });
  document.addEventListener("visibilitychange", count, { signal });
  window.addEventListener("pagehide", () => sessionStorage.setItem(storageKey, view.measureActiveMs()), { signal });
}

const isVisible = () => document.visibilityState === "visible";
