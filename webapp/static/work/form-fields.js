// The form's content as pairs of name and text.
import { showConditionalFields } from "../shared/conditions.js";

const inputsOf = (form) => [...form.elements].filter((input) => input.name && input.type !== "hidden" && input.type !== "submit");
const isCheckable = (input) => ["radio", "checkbox"].includes(input.type);

export function readFields(form) {
  return inputsOf(form)
    .filter((input) => !isCheckable(input) || input.checked)
    .map((input) => [input.name, input.value]);
}

export function fill(form, pairs) {
  const unused = pairs.slice();
  for (const input of inputsOf(form)) {
    if (isCheckable(input)) {
      input.checked = pairs.some(([name, text]) => name === input.name && text === input.value);
    } else {
      const index = unused.findIndex(([name]) => name === input.name); // the places of a ranking share a name
      input.value = index < 0 ? "" : unused.splice(index, 1)[0][1];
    }
  }
  showConditionalFields();
}

// A text to compare answers by. It excludes the text boxes of give back, report and ask, which are kept only in this
// browser.
export function serializeForm(form) {
  return serializePairs(form, readFields(form));
}

export function serializePairs(form, pairs) {
  const actionNames = actionNamesOf(form);
  return JSON.stringify(pairs.filter(([name, text]) => text !== "" && !actionNames.has(name)));
}

export function hasActionText(form, pairs) {
  const actionNames = actionNamesOf(form);
  return pairs.some(([name, text]) => text !== "" && actionNames.has(name));
}

const actionNamesOf = (form) => new Set([...form.querySelectorAll(".item-actions textarea")].map((textarea) => textarea.name));

export function isTextInput(element) {
  return element.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
}
