// The item view: an item with its form, and its replacement by the next one.
import { parseFragment } from "../shared/page.js";

const parts = [];
let controller = null; // of the current item's listeners and timers

// Registers a function to call with each item view.
export function addPart(begin) {
  parts.push(begin);
}

export function openItemView() {
  controller?.abort();
  controller = new AbortController();
  const root = document.getElementById("item-view");
  const { person, queue, id } = root.dataset;
  const form = root.querySelector("#answer");
  const key = JSON.stringify([person, queue, id]); // of what is stored in this browser about the item
  const view = { root, form, person, queue, id, key, signal: controller.signal };
  for (const begin of parts) begin(view);
}

// Swaps in a fragment from the server: the item view and the lease status in the page's header.
export function replaceItemView(html) {
  const fragment = parseFragment(html);
  const root = fragment.getElementById("item-view");
  history.replaceState(null, "", root.dataset.pageUrl);
  document.getElementById("lease-status").replaceWith(fragment.getElementById("lease-status"));
  document.getElementById("item-view").replaceWith(root);
  document.querySelector("main > .flashes").replaceChildren();
  const messages = [...root.querySelectorAll("#undo-message, [data-flashed]")];
  document.getElementById("announcements").textContent = messages.map((message) => message.textContent.trim()).join(" ");
  openItemView();
}

// Calls `callback` at intervals until the signal is aborted.
export function repeat(signal, intervalMs, callback) {
  const timer = setInterval(callback, intervalMs);
  signal.addEventListener("abort", () => clearInterval(timer));
}
