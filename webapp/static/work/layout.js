// Where the item and its questions stand. In a wide window they stand beside each other (page.css), or one above the
// other where both fit. It is loaded before the page is shown, so that nothing moves.

const WIDE = matchMedia("(width >= 68.75rem) and (width < 100rem) and (height >= 36rem)");
const EDGE_PX = 24; // less than this below the edge is no more to read

const besideQueues = new Set(); // in which they stand beside each other until the window changes its size
const heights = new Map(); // of the tallest item seen, by queue: the choices stand at the same height from item to item
let root;
let seen;

export function begin(view) {
  arrange(view.root);
  view.signal.addEventListener("abort", () => seen?.disconnect());
}

function arrange(itemView) {
  root = itemView;
  place();
  const panes = [root.querySelector("#item"), root.querySelector(".fields")];
  for (const pane of panes) pane.addEventListener("scroll", () => showContinuation(pane), { passive: true });
  showToQuestions(panes[1]);
}

function place() {
  const { queue } = root.dataset;
  const item = root.querySelector("#item");
  const { style, classList } = root;
  style.removeProperty("--item-height");
  classList.toggle("stacked", WIDE.matches && !besideQueues.has(queue));
  heights.set(queue, Math.max(heights.get(queue) ?? 0, item.getBoundingClientRect().height));
  if (classList.contains("stacked") && !fits()) {
    besideQueues.add(queue);
    classList.remove("stacked");
  } else style.setProperty("--item-height", `${heights.get(queue)}px`);
  if (classList.contains("stacked") && !fits()) style.removeProperty("--item-height");
  for (const pane of [item, root.querySelector(".fields")]) showContinuation(pane);
}

const fits = () => {
  const [item, fields] = [root.querySelector("#item"), root.querySelector(".fields")];
  return item.offsetHeight <= 0.6 * innerHeight && fields.scrollHeight <= fields.clientHeight + 1;
};

function showContinuation(pane) {
  pane.classList.toggle("continues", pane.scrollHeight - pane.scrollTop - pane.clientHeight > EDGE_PX);
}

// Where the page scrolls as a whole: a button that leads past a long item.
function showToQuestions(fields) {
  seen?.disconnect();
  const button = root.querySelector(".to-questions");
  seen = new IntersectionObserver(([entry]) => {
    button.hidden = entry.isIntersecting || entry.boundingClientRect.top < innerHeight;
  });
  seen.observe(fields);
  button.onclick = () => {
    fields.scrollIntoView();
    fields.querySelector("input:not([type=hidden]), textarea, select")?.focus({ preventScroll: true });
  };
}

let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width && !WIDE.matches) return; // a phone's address bar comes and goes
  width = innerWidth;
  besideQueues.clear();
  heights.clear();
  place();
});
// A picture has its height only now.
document.addEventListener("load", (event) => event.target.closest?.("#item") && place(), { capture: true });

arrange(document.getElementById("item-view"));
