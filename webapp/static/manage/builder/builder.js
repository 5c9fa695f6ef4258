// The form as editable rows. The JSON in the text area is the state: rows are built from it and write to it.
import { announce } from "../../shared/page.js";
import { isSame, makeKey, toForm, toRows } from "./model.js";
import { createEntry, createRow, findControl, listAnswers, pickColumn, readRow, showConditions, showDefaultKeys, showRow } from "./rows.js";
import { makeSortable, moveRow } from "./sortable.js";

const builder = document.getElementById("builder");
const textArea = document.getElementById("form");
const jsonPanel = textArea.closest(".field");
const rowsPanel = document.getElementById("rows");
const lists = { column: document.getElementById("columns"), question: document.getElementById("questions") };
const tabs = [...builder.querySelectorAll("[role=tab]")];

let form = {};

// The form in the text area; null if it is malformed.
function parseForm() {
  try {
    const value = textArea.value.trim() ? JSON.parse(textArea.value) : {};
    toRows(value); // throws if the form is malformed
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const rowsOf = (type) => [...lists[type].querySelectorAll(":scope > .builder-row")];
const typeOf = (row) => (row.parentElement === lists.question ? "question" : "column");

// Tabs

export function showJson() {
  showTab(tabs[1]);
}

export function updateDefaultKeys(preview) {
  for (const row of rowsOf("question")) showDefaultKeys(row, preview);
}

function showTab(selected) {
  for (const tab of tabs) {
    tab.setAttribute("aria-selected", String(tab === selected));
    tab.tabIndex = tab === selected ? 0 : -1;
  }
  const showsRows = selected === tabs[0];
  jsonPanel.hidden = showsRows;
  rowsPanel.hidden = !showsRows;
  if (showsRows) buildRows();
}

builder.querySelector("[role=tablist]").addEventListener("click", (event) => {
  const tab = event.target.closest("[role=tab]");
  if (tab) showTab(tab);
});

builder.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const otherTab = tabs.find((tab) => tab !== event.target);
  showTab(otherTab);
  otherTab.focus();
});

// From the JSON to rows, and back

function buildRows() {
  const parsedForm = parseForm();
  document.getElementById("rows-error").hidden = parsedForm !== null;
  document.getElementById("rows-editor").hidden = parsedForm === null;
  if (parsedForm === null) return;
  form = parsedForm;
  const { columns, questions } = toRows(form);
  lists.column.replaceChildren(...columns.map((values) => createRow("column", values)));
  lists.question.replaceChildren(...questions.map((values) => createRow("question", values)));
  showRows();
}

function showRows() {
  const earlierQuestions = [];
  for (const row of rowsOf("question")) {
    showConditions(row, earlierQuestions);
    const answers = listAnswers(row);
    const { key } = row.values;
    if (answers.length) earlierQuestions.push({ key, title: findControl(row, "title").value || key, answers });
  }
  for (const type of ["column", "question"]) {
    const rows = rowsOf(type);
    for (const [index, row] of rows.entries()) {
      showRow(row, index + 1);
      row.querySelector("[data-move='-1']").disabled = index === 0;
      row.querySelector("[data-move='1']").disabled = index === rows.length - 1;
    }
  }
}

function writeForm() {
  const questions = rowsOf("question").map(readQuestion);
  const columns = rowsOf("column").map(readRow).filter((column) => column.field);
  const oldValues = questions.map(({ options = [] }) => options.map(({ origin }) => origin?.value));
  form = toForm(form, { columns, questions });
  const newKeys = Object.fromEntries(questions.map((question) => [question.previousKey, question.key]));
  let isRenamed = false;
  for (const [index, row] of rowsOf("question").entries()) {
    const { key, options = [] } = questions[index];
    row.values = { ...row.values, key, schema: form.ask.properties[key] };
    for (const condition of row.conditions) condition[0] = newKeys[condition[0]] ?? condition[0];
    for (const [number, { item, origin }] of options.entries()) {
      item.origin = origin;
      if (renameAnswer(key, oldValues[index][number], origin?.value, options)) isRenamed = true;
    }
  }
  if (isRenamed) return writeForm();
  textArea.value = Object.keys(form).length ? JSON.stringify(form, null, 2) : "";
  textArea.dispatchEvent(new Event("input", { bubbles: true }));
}

// Conditions follow an option whose value has changed. Whether one has.
function renameAnswer(key, oldValue, newValue, options) {
  if (oldValue === undefined || newValue === undefined || isSame(oldValue, newValue)) return false;
  if (options.some(({ origin }) => isSame(origin?.value, oldValue))) return false;
  let isRenamed = false;
  for (const [name, answers] of rowsOf("question").flatMap((row) => row.conditions)) {
    const place = name === key ? answers.findIndex((answer) => isSame(answer, oldValue)) : -1;
    if (place < 0) continue;
    answers[place] = newValue;
    isRenamed = true;
  }
  return isRenamed;
}

function readQuestion(row, index) {
  const values = readRow(row);
  const takenKeys = rowsOf("question").slice(0, index).map((earlierRow) => findControl(earlierRow, "name").value);
  const typedKey = values.name.trim();
  const key = typedKey && !takenKeys.includes(typedKey) ? typedKey : makeKey(values.title, takenKeys);
  findControl(row, "name").value = key;
  return { ...values, previousKey: row.values.key, key };
}

rowsPanel.addEventListener("input", (event) => {
  const row = event.target.closest(".builder-row");
  if (!row) return;
  event.stopPropagation(); // the text area fires its own event for the change
  const { condition, entry } = event.target.dataset;
  const picker = event.target.closest(".column-picker");
  const { field } = (picker?.lastElementChild ?? event.target).dataset;
  if (event.target === picker?.firstElementChild) pickColumn(event.target);
  const block = event.target.closest(".condition");
  if (block) changeCondition(row, block, event.target);
  else if (field === "keys" || entry === "key") row.areKeysChanged = true;
  else if (field !== "required" && field !== "prefill" && field !== "name") row.isChanged = true;
  if (row.isChanged && form.keys) row.areKeysChanged = true; // they follow the options
  if (field === "title" && row.isNew) findControl(row, "name").value = ""; // derived until the title was left
  if (field === "kind") showRows(); // the parts of its kind
  writeForm();
  if (condition !== "answer") showRows();
  if (block && !block.isConnected) focusLastCondition(row);
});

function changeCondition(row, block, control) {
  const index = [...block.parentElement.children].indexOf(block);
  if (control.dataset.condition === "question") {
    row.conditions.splice(index, 1, ...(control.value ? [[control.value, []]] : []));
  } else {
    const boxes = [...block.querySelectorAll("[data-condition=answer]:checked")];
    row.conditions[index][1] = boxes.map((box) => JSON.parse(box.value));
  }
}

rowsPanel.addEventListener("focusout", (event) => {
  const row = event.target.closest(".builder-row");
  if (row && event.target.dataset.field === "title" && event.target.value) row.isNew = false;
});

// Buttons

const ACTIONS = {
  add: (button) => addRow(button.dataset.add, lists[button.dataset.add], { kind: button.dataset.add === "column" ? "text" : "choice" }),
  move: (button, row) => {
    if (moveRow(row, Number(button.dataset.move))) afterMove(row);
    if (button.disabled) row.querySelector("[data-move]:not(:disabled)")?.focus();
  },
  duplicate: (button, row) => duplicateRow(row),
  remove: (button, row) => removeRow(row),
  undo: (button) => button.closest(".removed").restore(),
  addCondition: (button, row) => {
    row.conditions.push(["", []]);
    showRows();
    focusLastCondition(row);
  },
  addEntry: (button) => addEntry(button.closest("[data-part]").querySelector("[data-list]")),
  removeEntry: (button, row) => removeEntry(button.closest("[data-list] > *"), row),
};

rowsPanel.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  const action = button && Object.keys(ACTIONS).find((name) => name in button.dataset);
  if (action) ACTIONS[action](button, button.closest(".builder-row"));
});

function addRow(type, place, values) {
  const keys = rowsOf("question").map((row) => row.values.key);
  const row = createRow(type, type === "question" ? { schema: {}, text: findShownText(), ...values, key: makeKey("", keys) } : values);
  row.isNew = row.isChanged = true;
  if (place === lists[type]) place.append(row);
  else place.after(row);
  for (const list of row.querySelectorAll("[data-list]")) while (list.children.length < 2) list.append(createEntry(list));
  if (type === "column") chooseUnusedColumn(row);
  row.querySelector("details").open = true;
  writeForm();
  showRows();
  const first = row.querySelector("[data-field]:not([hidden]), .column-picker > :not([hidden])");
  first.focus();
  first.select?.();
}

const findShownText = () => rowsOf("column").map(readRow).find(({ kind }) => kind === "text")?.field ?? "";

function chooseUnusedColumn(row) {
  const [select, input] = row.querySelector(".column-picker").children;
  const used = rowsOf("column").map((other) => findControl(other, "field").value);
  const unused = [...select.options].slice(0, -1).find((option) => option.value && !used.includes(option.value));
  if (!unused || input.value) return;
  select.value = unused.value;
  pickColumn(select);
}

// Without its keys: each answers one option of one question.
function duplicateRow(row) {
  const values = readRow(row);
  const options = values.options?.map((option) => ({ ...option, key: "" }));
  addRow(typeOf(row), row, { ...values, options, keys: "", name: "" });
}

function removeRow(row) {
  const removed = document.getElementById("removed-row").content.firstElementChild.cloneNode(true);
  removed.querySelector("[data-name]").textContent = row.querySelector("[data-name]").textContent;
  removed.restore = () => {
    row.areKeysChanged = true;
    removed.replaceWith(row);
    writeForm();
    showRows();
    row.querySelector("summary").focus();
  };
  row.replaceWith(removed);
  writeForm();
  showRows();
  removed.querySelector("button").focus();
  announce(removed.querySelector("p").textContent);
}

function afterMove(row) {
  writeForm();
  showRows();
  const rows = rowsOf(typeOf(row));
  announce(builder.dataset.moved.replace("{n}", rows.indexOf(row) + 1).replace("{all}", rows.length));
}

for (const list of Object.values(lists)) makeSortable(list, afterMove);

const focusLastCondition = (row) => row.querySelector(".condition:last-child [data-condition=question]").focus();

// Entries of a list inside a row, such as options

function addEntry(list, after = list.lastElementChild) {
  const item = createEntry(list);
  if (after) after.after(item);
  else list.append(item);
  showRows();
  item.querySelector("input").focus();
}

function removeEntry(item, row) {
  const neighbour = item.nextElementSibling ?? item.previousElementSibling;
  const list = item.parentElement;
  item.remove();
  row.isChanged = true;
  if (form.keys) row.areKeysChanged = true;
  writeForm();
  showRows();
  (neighbour?.querySelector("[data-remove-entry]") ?? list.parentElement.querySelector("[data-add-entry]")).focus();
}

// Enter in an entry leads to the next empty one, or adds it; elsewhere in a row it would save all settings.
rowsPanel.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches("input:not([type=checkbox])")) return;
  event.preventDefault();
  const item = event.target.closest("[data-list] > *");
  const next = item?.nextElementSibling?.querySelector("input");
  if (next?.value === "") next.focus();
  else if (item) addEntry(item.parentElement, item);
});

// A list that is pasted becomes an entry a line; a line of a sheet may have a text, a value and a key.
rowsPanel.addEventListener("paste", (event) => {
  const item = event.target.closest("[data-list] > *");
  const lines = (event.clipboardData?.getData("text/plain") ?? "").split(/\r?\n/).filter((line) => line.trim());
  if (!item || lines.length < 2) return;
  event.preventDefault();
  let last = item;
  for (const [index, line] of lines.entries()) {
    const isReused = index === 0 && !event.target.value;
    const target = isReused ? item : createEntry(item.parentElement);
    if (!isReused) last.after(target);
    const boxes = target.querySelectorAll("[data-entry]");
    for (const [place, cell] of line.split("\t").slice(0, boxes.length).entries()) boxes[place].value = cell.trim();
    last = target;
  }
  item.closest(".builder-row").areKeysChanged = true;
  last.querySelector("input").focus();
  last.querySelector("input").dispatchEvent(new Event("input", { bubbles: true }));
});

builder.hidden = false;
showTab(tabs[parseForm() === null || textArea.matches("[aria-invalid]") ? 1 : 0]);
