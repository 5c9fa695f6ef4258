// The item view ("sheet"): an item with its form, and its replacement by the next one.
import { localise } from "../shared/page.js";

const parts = [];
let over = null;

export function each(begin) {
  parts.push(begin);
}

export function open() {
  over?.abort();
  over = new AbortController();
  const root = document.getElementById("sheet");
  const { person, queue, id } = root.dataset;
  const form = root.querySelector("#answer");
  const sheet = { root, form, person, queue, id, what: JSON.stringify([person, queue, id]), signal: over.signal };
  for (const begin of parts) begin(sheet);
}

// Swaps in a fragment from the server: the sheet and its part of the page's header.
export function swap(html) {
  const piece = document.createElement("template");
  piece.innerHTML = html;
  localise(piece.content);
  const root = piece.content.getElementById("sheet");
  history.replaceState(null, "", root.dataset.url);
  document.getElementById("now").replaceWith(piece.content.getElementById("now"));
  document.getElementById("sheet").replaceWith(root);
  document.querySelector("main > .flashed").replaceChildren();
  const messages = [...root.querySelectorAll("#saved-words, [data-flashed]")];
  document.getElementById("live").textContent = messages.map((place) => place.textContent.trim()).join(" ");
  open();
}

export function every(signal, pause, act) {
  const ticking = setInterval(act, pause);
  signal.addEventListener("abort", () => clearInterval(ticking));
}
