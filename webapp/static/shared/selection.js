// Counts the selected rows, selects all rows of the page, and with Shift those from the last one to this. Rows may come
// and go. A list of items (`data-list`) keeps the selection while its other pages and its items are open.
import { readSelection, writeSelection } from "./kept-selection.js";

const getCheckboxes = () => [...document.querySelectorAll('input[type="checkbox"][name][form="bulk-form"]')];
const selectAll = document.querySelector("[data-select-all] input");
const selectedCount = document.querySelector("[data-selected-count]");
const selectAllPages = document.querySelector("[data-select-all-pages]");

const bulkForm = document.getElementById("bulk-form");
const list = bulkForm?.dataset.list;
const clearButton = document.querySelector("[data-clear-selection]");
const elsewhere = new Set(); // ids of selected items that are on other pages of the list
let last = null; // the checkbox that was changed last

if (selectAll) {
  bulkForm.classList.add("floating");
  document.querySelector("[data-select-heading]").hidden = true;
  selectAll.closest("label").hidden = false;
  selectAll.addEventListener("change", () => {
    for (const checkbox of getCheckboxes()) checkbox.checked = selectAll.checked;
    showSelection();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.matches('input[form="bulk-form"]')) return;
    if (event.shiftKey) setRange(event.target);
    last = event.target;
  });
  document.addEventListener("change", (event) => event.target.matches('[form="bulk-form"]') && showSelection());
  if (list) restoreSelection();
  showSelection();
}

function restoreSelection() {
  const kept = readSelection(list);
  for (const checkbox of getCheckboxes()) if (kept.delete(checkbox.value)) checkbox.checked = true;
  for (const id of kept) {
    elsewhere.add(id);
    bulkForm.append(Object.assign(document.createElement("input"), { type: "hidden", name: "id", value: id }));
  }
  clearButton.addEventListener("click", () => {
    for (const input of bulkForm.querySelectorAll("[type=hidden][name=id]")) input.remove();
    for (const checkbox of getCheckboxes()) checkbox.checked = false;
    elsewhere.clear();
    showSelection();
  });
  bulkForm.addEventListener("submit", () => writeSelection(list, new Set()));
}

// Selects the rows from the last one that was changed to this.
export function selectRange(checkbox) {
  checkbox.checked = true;
  setRange(checkbox);
  last = checkbox;
  showSelection();
}

function setRange(checkbox) {
  const checkboxes = getCheckboxes();
  const [from, to] = [checkboxes.indexOf(last), checkboxes.indexOf(checkbox)].sort((a, b) => a - b);
  if (from < 0) return;
  for (const other of checkboxes.slice(from, to + 1)) other.checked = checkbox.checked;
}

export function toggleAll() {
  selectAll?.click();
}

function showSelection() {
  const checkboxes = getCheckboxes();
  const checked = checkboxes.filter((checkbox) => checkbox.checked);
  const count = checked.length + elsewhere.size;
  selectAll.checked = checked.length > 0 && checked.length === checkboxes.length;
  selectAll.indeterminate = checked.length > 0 && !selectAll.checked;
  if (list) {
    clearButton.hidden = elsewhere.size === 0;
    writeSelection(list, new Set([...checked.map((checkbox) => checkbox.value), ...elsewhere]));
  }
  bulkForm.hidden = count === 0;
  const template = selectedCount.dataset.selectedCount;
  selectedCount.textContent = template.replace("{n}", count.toLocaleString(document.documentElement.lang));
  if (selectAllPages) {
    selectAllPages.hidden = !selectAll.checked;
    if (selectAllPages.hidden) selectAllPages.querySelector("input").checked = false;
  }
  if (count) {
    const radio = selectedCount.closest("label")?.querySelector("input");
    if (radio) radio.checked = true;
  }
}
