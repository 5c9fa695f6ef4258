// A row of the builder: a column that people see, or a question. Its controls are the state of the row.
import { QUESTION_KINDS, partsOf, toText } from "./kinds.js";
import { isSame } from "./model.js";
import { makeSortable } from "./sortable.js";

const builder = document.getElementById("builder");
const clone = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);

export const findControl = (row, name) => row.querySelector(`[data-field=${name}]`);

// `values`: of `toRows`. `row.conditions`: pairs of an earlier question's key and the answers to it.
export function createRow(type, values) {
  const row = clone(`${type}-row`);
  row.values = values;
  for (const control of row.querySelectorAll("[data-field]")) {
    const value = values[control.dataset.field];
    if (control.type === "checkbox") control.checked = Boolean(value);
    else if (value !== undefined) control.value = value;
  }
  for (const picker of row.querySelectorAll(".column-picker")) showPicked(picker);
  for (const list of row.querySelectorAll("[data-list]")) {
    list.replaceChildren(...(values[list.dataset.list] ?? []).map((entry) => createEntry(list, entry)));
    makeSortable(list, () => list.dispatchEvent(new Event("input", { bubbles: true })));
  }
  row.conditions = Object.entries(values.when ?? {}).map(([key, answers]) => [key, [answers].flat()]);
  return row;
}

export function readRow(row) {
  const controls = [...row.querySelectorAll("[data-field]")];
  const fields = controls.map((control) => [control.dataset.field, readControl(control)]);
  const lists = [...row.querySelectorAll("[data-list]")].map((list) => [list.dataset.list, [...list.children].map(readEntry)]);
  const pairs = row.conditions.filter(([key, answers]) => key && answers.length).map(([key, answers]) => [key, [...answers]]);
  const { isChanged, areKeysChanged } = row;
  const when = pairs.length ? Object.fromEntries(pairs) : undefined;
  return { ...row.values, ...Object.fromEntries([...fields, ...lists]), isChanged, areKeysChanged, when };
}

// A column has only the options of its kind: parts of others are empty.
function readControl(control) {
  if (control.closest("#columns [data-part][hidden]")) return "";
  return control.type === "checkbox" ? control.checked : control.value;
}

// The rows of a list inside a row, such as options. `entry.origin` is kept with its row.
export function createEntry(list, entry = {}) {
  const item = clone(`${list.dataset.list}-entry`);
  item.origin = entry.origin;
  for (const control of item.querySelectorAll("[data-entry]")) control.value = entry[control.dataset.entry] ?? control.value;
  return item;
}

function readEntry(item) {
  const controls = [...item.querySelectorAll("[data-entry]")].map((control) => [control.dataset.entry, control.value]);
  return { ...Object.fromEntries(controls), origin: item.origin, item };
}

// The select of a picker lists the columns of the newest items; its input is the state. The last option is for others.
function showPicked(picker) {
  const [select, input] = picker.children;
  const hasColumns = picker.dataset.columns === "yes";
  const listed = [...select.options].find((option) => option.value === input.value && !isOther(option));
  select.hidden = !hasColumns;
  (listed ?? select.options[select.length - 1]).selected = true;
  input.hidden = hasColumns && Boolean(listed);
}

const isOther = (option) => "other" in option.dataset;

export function pickColumn(select) {
  const input = select.nextElementSibling;
  input.value = select.value;
  input.hidden = !isOther(select.selectedOptions[0]);
  if (!input.hidden) input.focus();
}

// Shows the parts of a row's kind, and what a closed row says.
export function showRow(row, position) {
  const kind = findControl(row, "kind");
  const isQuestion = findControl(row, "title") !== null;
  const values = readRow(row);
  const parts = isQuestion ? partsOf(kind.value, values) : [kind.value];
  for (const part of row.querySelectorAll("[data-part]")) part.hidden = !part.dataset.part.split(" ").some((name) => parts.includes(name));
  const name = (isQuestion ? values.title || values.key : values.label || values.field) || String(position);
  const notes = isQuestion ? describeQuestion(row, values) : values.label ? [values.field] : [];
  row.querySelector("[data-name]").textContent = name;
  row.querySelector("[data-kind-name]").textContent = kind.selectedOptions[0]?.textContent ?? values.kind;
  row.querySelector("[data-notes]").textContent = notes.join(" · ");
  row.querySelector(".grip").setAttribute("aria-label", builder.dataset.move.replace("{name}", () => name));
  for (const item of row.querySelectorAll("[data-list] > *")) nameEntry(item);
}

function describeQuestion(row, { required, prefill }) {
  const { dataset } = builder;
  return [
    required ? dataset.required : "",
    row.conditionText ? dataset.conditional.replace("{answers}", () => row.conditionText) : "",
    prefill ? dataset.prefilled.replace("{column}", () => prefill) : "",
  ].filter(Boolean);
}

function nameEntry(item) {
  const position = [...item.parentElement.children].indexOf(item) + 1;
  const [text, value] = item.querySelectorAll("[data-entry]");
  if (value?.dataset.entry === "value") value.placeholder = text.value;
  for (const control of item.querySelectorAll("[data-label]")) {
    control.setAttribute("aria-label", control.dataset.label.replace("{n}", position));
  }
}

// One block for each condition of a question, or one empty block if it has none.
export function showConditions(row, earlierQuestions) {
  const container = row.querySelector("[data-conditions]");
  const pairs = row.conditions.length ? row.conditions : [["", []]];
  while (container.children.length < pairs.length) container.append(clone("condition"));
  while (container.children.length > pairs.length) container.lastElementChild.remove();
  const usedKeys = row.conditions.map(([key]) => key);
  const unused = earlierQuestions.filter((question) => !usedKeys.includes(question.key));
  for (const [index, [key, answers]] of pairs.entries()) {
    const block = container.children[index];
    block.querySelector("[data-first]").hidden = index > 0;
    block.querySelector("[data-further]").hidden = index === 0;
    const questions = earlierQuestions.filter((question) => unused.includes(question) || question.key === key);
    showQuestions(block.querySelector("[data-condition=question]"), key, questions);
    showAnswers(block.querySelector("[data-condition=answers]"), key, answers, earlierQuestions);
  }
  row.conditionText = describeConditions(row.conditions, earlierQuestions);
  container.hidden = !earlierQuestions.length && !row.conditions.length; // nothing to depend on
  const canAdd = unused.length && usedKeys.length && !usedKeys.includes("");
  row.querySelector("[data-condition=more]").hidden = !canAdd;
}

// "Refund, Delivery"; with the question if the answers alone would not say it: "Is it late?: Yes".
function describeConditions(conditions, questions) {
  const texts = conditions.filter(([key]) => key).map(([key, accepted]) => {
    const question = questions.find((earlier) => earlier.key === key);
    const answers = accepted.map((answer) => question?.answers.find(({ value }) => isSame(value, answer)) ?? { value: answer });
    const text = answers.map(labelOf).join(", ");
    return answers.every(({ label }) => label) ? text : `${question?.title ?? key}: ${text}`;
  });
  return texts.join("; ");
}

const labelOf = ({ value, label }) => builder.dataset[`answer${value}`] ?? (label || toText(value));

function showQuestions(select, key, questions) {
  const [alwaysOption] = select.options;
  select.replaceChildren(alwaysOption, ...questions.map((question) => new Option(question.title, question.key)));
  if (key && !questions.some((question) => question.key === key)) select.append(new Option(key, key));
  select.value = key;
}

function showAnswers(fieldset, key, accepted, earlierQuestions) {
  fieldset.hidden = !key;
  const known = earlierQuestions.find((earlier) => earlier.key === key)?.answers ?? [];
  const gone = accepted.filter((answer) => !known.some(({ value }) => isSame(value, answer))).map((value) => ({ value }));
  const boxes = [...known, ...gone].map((answer) => {
    const { value } = answer;
    const box = clone("answer-checkbox");
    const input = box.querySelector("input");
    input.value = JSON.stringify(value);
    input.checked = accepted.some((other) => isSame(other, value));
    box.querySelector("span").textContent = labelOf(answer);
    return box;
  });
  fieldset.querySelector("div").replaceChildren(...boxes);
}

// The answers to a question on which others can depend.
export function listAnswers(row) {
  const values = readRow(row);
  const { answers, decides = true } = QUESTION_KINDS[values.kind];
  if (!decides) return [];
  const labels = (values.options ?? []).map(({ origin, text }) => [origin?.value, text]);
  return answers(values).map((value) => ({ value, label: labels.find(([known]) => isSame(known, value))?.[1] }));
}

// Shows the keys that the answers have by default, as the preview does.
export function showDefaultKeys(row, preview) {
  const inputs = [...preview.querySelectorAll(`[name="${CSS.escape(`answer.${row.values.key}`)}"]`)];
  const keys = inputs.map((input) => input.closest(".choice")?.querySelector("kbd")?.textContent.toLowerCase() ?? "");
  const filled = readRow(row).options.filter(({ origin }) => origin);
  for (const [index, { item }] of filled.entries()) item.querySelector("[data-entry=key]").placeholder = keys[index] ?? "";
  findControl(row, "keys").placeholder = keys.map((key) => key || " ").join("").trimEnd();
}
