// Keys and buttons of a table of inputs, which work as in a sheet.
import { inputsOf, insertRow, numberRows, rowsOf } from "./row-list.js";

let current = null; // the cell that had the focus last
let removed = null; // the last removed row, with its table and its place

const tableOf = (element) => element.closest("fieldset").querySelector("table.rows");
const isBlank = (row) => inputsOf(row).every((input) => !input.value.trim());
const isFull = (table) => rowsOf(table).length >= Number(table.dataset.max);
const changed = (table) => table.dispatchEvent(new Event("input", { bubbles: true }));

document.addEventListener(
  "keydown",
  (event) => {
    const input = event.target;
    if (!input.matches?.(".rows [data-column]") || event.isComposing || event.altKey || event.metaKey) return;
    if (pressKey(event, input, input.closest("tr"))) {
      event.preventDefault();
      event.stopPropagation();
    }
  },
  { capture: true },
);

function pressKey({ key, ctrlKey, shiftKey }, input, row) {
  const isOneLine = input.matches("input");
  if (ctrlKey && key.toLowerCase() === "d") shiftKey ? removeRow(row, input) : copyRow(row, input);
  else if (ctrlKey) return false;
  else if (key === "Enter") shiftKey ? moveTo(input, row.previousElementSibling) : goDown(input, row);
  else if (key === "ArrowDown" && isOneLine) moveTo(input, row.nextElementSibling);
  else if (key === "ArrowUp" && isOneLine) moveTo(input, row.previousElementSibling);
  else return false;
  return true;
}

// To the next row, from the last column to its first; at the end to a new row.
function goDown(input, row) {
  const next = row.nextElementSibling;
  if (!next) addRow(tableOf(row));
  else if (input === inputsOf(row).at(-1)) focus(inputsOf(next)[0]);
  else moveTo(input, next);
}

function moveTo(input, row) {
  if (row) focus(inputsOf(row)[inputsOf(input.closest("tr")).indexOf(input)]);
}

function focus(input) {
  if (input.closest("[hidden]")) return input.closest("fieldset").focus(); // no row is left to be seen
  input.focus();
  input.select?.();
}

// The buttons are for the row that had the focus last; it is marked.
document.addEventListener("focusin", ({ target }) => {
  if (!target.matches(".rows [data-column]")) return;
  current?.closest("tr")?.classList.remove("current");
  current = target;
  current.closest("tr").classList.add("current");
});

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-row-action]");
  if (!button) return;
  const table = tableOf(button);
  const ownRow = button.closest("tr");
  const input = ownRow ? inputsOf(ownRow).at(-1) : current && table.contains(current) ? current : inputsOf(rowsOf(table)[0])[0];
  const action = button.dataset.rowAction;
  if (action === "add") addRow(table);
  else if (action === "restore") restoreRow(button);
  else if (action === "copy") copyRow(input.closest("tr"), input);
  else removeRow(input.closest("tr"), input);
});

function addRow(table) {
  if (isFull(table)) showStatus(table, "full");
  else {
    focus(inputsOf(insertRow(table))[0]);
    changed(table);
  }
}

function copyRow(row, input) {
  const table = tableOf(row);
  if (isFull(table)) return showStatus(table, "full");
  const copy = insertRow(table, row.nextElementSibling);
  for (const [index, cell] of inputsOf(row).entries()) inputsOf(copy)[index].value = cell.value;
  focus(inputsOf(copy)[inputsOf(row).indexOf(input)]);
  changed(table);
}

// One row always stays. A removed row can be put back.
function removeRow(row, input) {
  const table = tableOf(row);
  const column = inputsOf(row).indexOf(input);
  const next = row.nextElementSibling ?? row.previousElementSibling ?? insertRow(table);
  removed = { table, row, index: row.sectionRowIndex };
  row.remove();
  numberRows(table, rowsOf(table)[removed.index]);
  focus(inputsOf(next)[column]);
  showStatus(table, "removed", removed.index + 1, !isBlank(row));
  changed(table);
}

function restoreRow(button) {
  const { table, row, index } = removed;
  table.tBodies[0].insertBefore(row, rowsOf(table)[index] ?? null);
  numberRows(table, row);
  button.hidden = true;
  focus(inputsOf(row)[0]);
  showStatus(table, "");
  changed(table);
}

function showStatus(table, what, n, isRestorable = false) {
  const actions = table.closest("fieldset").querySelector(".table-actions");
  const status = actions.querySelector("[role=status]");
  status.textContent = what ? status.dataset[what].replace("{n}", n) : "";
  for (const button of document.querySelectorAll("[data-row-action=restore]")) button.hidden = true; // of another table
  actions.querySelector("[data-row-action=restore]").hidden = !isRestorable;
}

// Cells that were copied from a sheet fill the cells from here on, with new rows as needed.
document.addEventListener("paste", (event) => {
  const input = event.target;
  if (!input.matches?.(".rows input")) return;
  const lines = event.clipboardData.getData("text").replace(/\r?\n$/, "").split(/\r?\n/).map((line) => line.split("\t"));
  if (lines.length === 1 && lines[0].length === 1) return;
  event.preventDefault();
  const table = tableOf(input);
  const first = inputsOf(input.closest("tr")).indexOf(input);
  let row = input.closest("tr");
  for (const [index, texts] of lines.entries()) {
    if (index) row = row.nextElementSibling ?? (isFull(table) ? null : insertRow(table));
    if (!row) {
      showStatus(table, "full");
      break;
    }
    const cells = inputsOf(row).slice(first);
    for (const [place, text] of texts.slice(0, cells.length).entries()) setValue(cells[place], text.trim());
  }
  changed(table);
});

function setValue(input, text) {
  const option = [...(input.options ?? [])].find(({ label }) => label.toLowerCase() === text.toLowerCase());
  input.value = option ? option.value : text;
}
