// The form's content as pairs of name and text.
import { makeBoxes } from "../shared/questions/file-list.js";
import { makeRoom } from "../shared/questions/row-list.js";
import { showConditionalFields } from "../shared/conditions.js";

const GONE = "gone."; // prefix of the names of answers whose question or option the form no longer has

const inputsOf = (form) => [...form.elements].filter((input) => input.name && input.type !== "hidden" && input.type !== "submit");
const isCheckable = (input) => ["radio", "checkbox"].includes(input.type);
const isGone = (name) => name.startsWith(GONE);

export function readFields(form) {
  return inputsOf(form)
    .filter((input) => !isCheckable(input) || input.checked)
    .map((input) => [input.name, input.value]);
}

export function fill(form, pairs) {
  makeRoom(form, pairs.map(([name]) => name));
  makeBoxes(form, pairs);
  const unused = place(form, pairs);
  for (const input of inputsOf(form).filter(({ name }) => !isGone(name))) {
    const index = unused.findIndex(([name, text]) => name === input.name && (!isCheckable(input) || text === input.value));
    const [pair] = index < 0 ? [null] : unused.splice(index, 1); // the places of a ranking share a name
    if (isCheckable(input)) input.checked = pair !== null;
    else input.value = pair ? pair[1] : "";
  }
  for (const [name, text] of unused.filter(([name]) => isGone(name))) showGone(form, name, text);
  showConditionalFields();
  form.dispatchEvent(new Event("filled")); // for questions that show their inputs in another way
}

// The pairs with "gone." before the names of those that no input of the form can hold, since the questions changed.
function place(form, pairs) {
  const fileNames = makeBoxes(form, []); // whose inputs are made when the form is filled
  const free = new Map(); // inputs by name
  for (const input of inputsOf(form)) free.set(input.name, [...(free.get(input.name) ?? []), input]);
  return pairs.map(([name, text]) => {
    if (fileNames.includes(name)) return [name, text];
    const inputs = isGone(name) ? [] : free.get(name) ?? [];
    const index = inputs.findIndex((input) => canHold(input, text));
    if (index >= 0) inputs.splice(index, 1);
    return index < 0 && text && name.startsWith("answer.") ? [GONE + name.slice("answer.".length), text] : [name, text];
  });
}

function canHold(input, text) {
  if (isCheckable(input)) return input.value === text;
  if (["text", "textarea"].includes(input.type)) return input.type === "textarea" || !text.includes("\n");
  if (input.options) return [...input.options].some(({ value }) => value === text);
  const copy = input.cloneNode(true);
  copy.value = text;
  return copy.value === text;
}

function showGone(form, name, text) {
  const section = form.querySelector("#gone");
  const isShown = [...section.querySelectorAll("textarea")].some((area) => area.name === name && area.value === text);
  if (isShown || !text.trim()) return;
  const row = section.querySelector("template").content.firstElementChild.cloneNode(true);
  const textArea = row.querySelector("textarea");
  textArea.name = name;
  textArea.value = text;
  textArea.rows = Math.min(text.split("\n").length + Math.floor(text.length / 60), 8);
  row.querySelector("span").textContent = labelOf(form, name.slice(GONE.length));
  section.append(row);
  section.hidden = false;
}

// The label of the question, if it is still there, else its name as words.
function labelOf(form, name) {
  const question = form.querySelector(`[data-name="${CSS.escape(name)}"]`)?.querySelector("legend, label");
  const words = name.replaceAll("_", " ").trim();
  return question ? question.firstChild.textContent.trim() : words.charAt(0).toUpperCase() + words.slice(1);
}

// A text to compare answers by. It excludes the text boxes of give back, report and ask, which are kept only in this
// browser.
export function serializeForm(form) {
  return serializePairs(form, readFields(form));
}

export function serializePairs(form, pairs) {
  const actionNames = actionNamesOf(form);
  const answers = place(form, pairs).filter(([name, text]) => text !== "" && !actionNames.has(name));
  return JSON.stringify(answers.sort(([name], [other]) => (name < other ? -1 : name > other ? 1 : 0)));
}

export function hasActionText(form, pairs) {
  const actionNames = actionNamesOf(form);
  return pairs.some(([name, text]) => text !== "" && actionNames.has(name));
}

const actionNamesOf = (form) => new Set([...form.querySelectorAll(".item-actions textarea")].map((textarea) => textarea.name));
