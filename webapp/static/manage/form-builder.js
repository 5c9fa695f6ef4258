// The form as editable rows. The JSON in the text area is the state: rows are built from it and write to it.
import { listValues, makeKey, toForm, toRows, toText, toValue } from "./form-model.js";

const builder = document.getElementById("builder");
const textArea = document.getElementById("form");
const jsonPanel = textArea.closest(".field");
const rowsPanel = document.getElementById("rows");
const lists = { field: document.getElementById("shown-fields"), question: document.getElementById("questions") };
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

const questionRows = () => [...lists.question.children];
const findControl = (row, name) => row.querySelector(`[data-field=${name}]`);

// Tabs

export function showJson() {
  showTab(tabs[1]);
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

// From the JSON to rows

function buildRows() {
  const parsedForm = parseForm();
  document.getElementById("rows-error").hidden = parsedForm !== null;
  document.getElementById("rows-editor").hidden = parsedForm === null;
  if (parsedForm === null) return;
  form = parsedForm;
  const { shownFields, questions } = toRows(form);
  lists.field.replaceChildren(...shownFields.map((values) => createRow("field", values)));
  lists.question.replaceChildren(...questions.map((values) => createRow("question", values)));
  updateRows();
}

// `row.conditions`: pairs of an earlier question's key and the texts of its answers.
function createRow(type, values) {
  const row = document.getElementById(`${type}-row`).content.firstElementChild.cloneNode(true);
  row.values = values;
  for (const control of row.querySelectorAll("[data-field]")) {
    const value = values[control.dataset.field];
    if (control.type === "checkbox") control.checked = Boolean(value);
    else if (value !== undefined) control.value = value;
  }
  row.conditions = Object.entries(values.when ?? {}).map(([key, answers]) => [key, [answers].flat().map(toText)]);
  return row;
}

// Updates what depends on other rows or on a row's kind.
function updateRows() {
  for (const list of Object.values(lists)) {
    const rows = [...list.children];
    for (const [index, row] of rows.entries()) {
      row.querySelector("[data-move='-1']").disabled = index === 0;
      row.querySelector("[data-move='1']").disabled = index === rows.length - 1;
      row.firstElementChild.setAttribute("aria-label", row.querySelector("input").value || String(index + 1));
    }
  }
  const earlierQuestions = [];
  for (const row of questionRows()) {
    const kind = findControl(row, "kind").value;
    for (const part of row.querySelectorAll("[data-kinds]")) part.hidden = !part.dataset.kinds.split(" ").includes(kind);
    const title = findControl(row, "title").value || row.values.key;
    updateConditions(row, earlierQuestions);
    if (kind === "choice" || kind === "choices" || kind === "boolean") {
      earlierQuestions.push({ row, title, key: row.values.key });
    }
  }
}

// One block for each condition of a question, or one empty block if it has none.
function updateConditions(row, earlierQuestions) {
  const container = row.querySelector("[data-conditions]");
  const pairs = row.conditions.length ? row.conditions : [["", []]];
  const template = document.getElementById("condition").content.firstElementChild;
  while (container.children.length < pairs.length) container.append(template.cloneNode(true));
  while (container.children.length > pairs.length) container.lastElementChild.remove();
  const usedKeys = row.conditions.map(([key]) => key);
  const unusedQuestions = earlierQuestions.filter((question) => !usedKeys.includes(question.key));
  for (const [index, [key, texts]] of pairs.entries()) {
    const block = container.children[index];
    block.querySelector("[data-first]").hidden = index > 0;
    block.querySelector("[data-further]").hidden = index === 0;
    const options = earlierQuestions.filter((question) => unusedQuestions.includes(question) || question.key === key);
    updateQuestionSelect(block.querySelector("[data-condition=question]"), key, options);
    updateAnswers(block.querySelector("[data-condition=answers]"), key, texts, earlierQuestions);
  }
  container.hidden = !earlierQuestions.length && !row.conditions.length; // nothing to depend on
  const canAdd = unusedQuestions.length && usedKeys.length && !usedKeys.includes("");
  row.querySelector("[data-condition=more]").hidden = !canAdd;
}

function updateQuestionSelect(select, key, questions) {
  const [alwaysOption] = select.options;
  select.replaceChildren(alwaysOption, ...questions.map((question) => new Option(question.title, question.key)));
  if (key && !questions.some((question) => question.key === key)) select.append(new Option(key, key));
  select.value = key;
}

function updateAnswers(fieldset, key, texts, earlierQuestions) {
  fieldset.hidden = !key;
  const question = earlierQuestions.find((earlier) => earlier.key === key);
  const answers = new Set([...(question ? listAnswers(question.row) : []), ...texts]);
  const checkboxes = [...answers].map((answer) => createCheckbox(answer, texts.includes(answer)));
  fieldset.querySelector("div").replaceChildren(...checkboxes);
}

function listAnswers(row) {
  if (findControl(row, "kind").value === "boolean") return ["true", "false"];
  const lines = findControl(row, "options").value.split("\n");
  return lines.map((line) => line.split(/\s+=\s+/)[0].trim()).filter(Boolean);
}

function createCheckbox(answer, isChecked) {
  const label = document.getElementById("answer-checkbox").content.firstElementChild.cloneNode(true);
  const checkbox = label.querySelector("input");
  checkbox.value = answer;
  checkbox.checked = isChecked;
  label.querySelector("span").textContent = builder.dataset[`answer${answer}`] ?? answer;
  return label;
}

// From rows to the JSON

function writeForm() {
  const questions = questionRows().map(readQuestion);
  const shownFields = [...lists.field.children]
    .map((row) => ({ ...row.values, ...readControls(row) }))
    .filter((shownField) => shownField.field);
  form = toForm(form, { shownFields, questions });
  const newKeys = Object.fromEntries(questions.map((question) => [question.previousKey, question.key]));
  for (const [index, row] of questionRows().entries()) {
    const { key } = questions[index];
    row.values = { ...row.values, key, schema: form.ask.properties[key], when: form.when?.[key] };
    for (const condition of row.conditions) condition[0] = newKeys[condition[0]] ?? condition[0];
  }
  textArea.value = Object.keys(form).length ? JSON.stringify(form, null, 2) : "";
  textArea.dispatchEvent(new Event("input", { bubbles: true }));
}

function readQuestion(row, index) {
  const values = readControls(row);
  const takenKeys = questionRows().slice(0, index).map((earlierRow) => findControl(earlierRow, "key").value);
  const typedKey = values.key.trim();
  const key = typedKey && !takenKeys.includes(typedKey) ? typedKey : makeKey(values.title, takenKeys);
  findControl(row, "key").value = key;
  return { ...row.values, ...values, previousKey: row.values.key, key, when: readConditions(row) };
}

function readConditions(row) {
  const pairs = row.conditions.filter(([key, texts]) => key && texts.length);
  return pairs.length ? Object.fromEntries(pairs.map(([key, texts]) => [key, toValues(key, texts)])) : undefined;
}

// The values of a question's answers with these texts.
function toValues(key, texts) {
  const schema = questionRows().find((row) => row.values.key === key)?.values.schema ?? {};
  const knownValues = schema.type === "boolean" ? [true, false] : listValues(schema);
  return texts.map((text) => toValue(text, knownValues));
}

function readControls(row) {
  const controls = [...row.querySelectorAll("[data-field]")];
  return Object.fromEntries(
    controls.map((control) => [control.dataset.field, control.type === "checkbox" ? control.checked : control.value]),
  );
}

rowsPanel.addEventListener("input", (event) => {
  const row = event.target.closest(".row");
  if (!row) return;
  event.stopPropagation(); // the text area fires its own event for the change
  const { field, condition } = event.target.dataset;
  const block = event.target.closest(".condition");
  const index = block ? [...block.parentElement.children].indexOf(block) : -1;
  if (condition === "question") {
    row.conditions.splice(index, 1, ...(event.target.value ? [[event.target.value, []]] : []));
  } else if (condition === "answer") {
    const checkboxes = [...block.querySelectorAll("[data-condition=answer]:checked")];
    row.conditions[index][1] = checkboxes.map((checkbox) => checkbox.value);
  } else if (field === "title" && row.isNew) {
    findControl(row, "key").value = ""; // derived from the title until the title field was left
  }
  writeForm();
  if (condition !== "answer") updateRows();
  if (block && !block.isConnected) focusLastCondition(row);
});

rowsPanel.addEventListener("focusout", (event) => {
  const row = event.target.closest(".row");
  if (row && event.target.dataset.field === "title" && event.target.value) row.isNew = false;
});

rowsPanel.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  const row = button?.closest(".row");
  if (button?.dataset.add) addRow(button.dataset.add);
  else if (button?.dataset.move) moveRow(row, Number(button.dataset.move), button);
  else if (button?.dataset.remove !== undefined) removeRow(row);
  else if (button?.dataset.addCondition !== undefined) addCondition(row);
});

function addRow(type) {
  const keys = questionRows().map((row) => row.values.key);
  const values = type === "field" ? { kind: "text" } : { key: makeKey("", keys), schema: {}, kind: "text", title: "" };
  const row = createRow(type, values);
  row.isNew = true;
  lists[type].append(row);
  updateRows();
  if (type === "question") writeForm(); // a shown field without a name is ignored
  findControl(row, type === "field" ? "field" : "title").focus();
}

function addCondition(row) {
  row.conditions.push(["", []]);
  updateRows();
  focusLastCondition(row);
}

function focusLastCondition(row) {
  row.querySelector(".condition:last-child [data-condition=question]").focus();
}

function moveRow(row, step, button) {
  if (step < 0) row.previousElementSibling.before(row);
  else row.nextElementSibling.after(row);
  writeForm();
  updateRows();
  (button.disabled ? row.querySelector("[data-move]:not(:disabled)") : button).focus();
}

function removeRow(row) {
  const list = row.parentElement;
  const neighbour = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  writeForm();
  updateRows();
  (neighbour?.querySelector("[data-remove]") ?? list.nextElementSibling.querySelector("button")).focus();
}

builder.hidden = false;
showTab(tabs[parseForm() === null || textArea.matches("[aria-invalid]") ? 1 : 0]);
