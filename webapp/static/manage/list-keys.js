// Keys of a list: j and k move from row to row, x selects a row, Shift+X all rows up to it, * all rows of the page, and
// "." goes to the acts on the selection. A row is focused by its link, so Enter opens it.
import { isTextInput, keysOf } from "../shared/keys.js";
import { selectRange, toggleAll } from "../shared/selection.js";
import { areSingleKeysOff } from "../shared/shortcuts-switch.js";

const table = document.querySelector("table[data-keys]");
const getLinks = () => [...table.querySelectorAll("tbody a.title")];

const ACTIONS = {
  j: () => move(1),
  k: () => move(-1),
  x: (row, event) => select(row, event.shiftKey),
  "*": () => toggleAll(),
  ".": () => document.querySelector("#bulk-form:not([hidden]) .row button")?.focus(),
};

// The row that has the focus, else the one that had it last.
let current = null;

function move(step) {
  const links = getLinks();
  const place = links.findIndex((link) => link.closest("tr") === current);
  const next = links[place < 0 ? 0 : Math.min(Math.max(place + step, 0), links.length - 1)];
  next?.focus();
}

function select(row, isRange) {
  const checkbox = row?.querySelector(".tick input");
  if (isRange && checkbox) selectRange(checkbox);
  else checkbox?.click();
}

if (table) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || areSingleKeysOff()) return;
    if (isTextInput(event.target) || document.querySelector("dialog[open], [popover]:popover-open")) return;
    const action = keysOf(event).map((key) => ACTIONS[key.toLowerCase()]).find(Boolean);
    if (!action) return;
    event.preventDefault();
    action(current, event);
  });
  table.addEventListener("focusin", (event) => setCurrent(event.target.closest("tbody tr")));
  // A click beside a row's link and controls focuses the row.
  table.addEventListener("click", (event) => {
    if (event.target.closest("a, button, label, input, summary")) return;
    event.target.closest("tbody tr")?.querySelector("a.title")?.focus();
  });
}

function setCurrent(row) {
  if (!row || row === current) return;
  current?.removeAttribute("data-current");
  row.setAttribute("data-current", "");
  current = row;
  document.dispatchEvent(new CustomEvent("row", { detail: row.querySelector("a.title") }));
}
