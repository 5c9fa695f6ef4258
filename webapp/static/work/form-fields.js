// The form's content as pairs of name and text.
import { showAsked } from "../shared/conditions.js";

const controls = (form) => [...form.elements].filter((one) => one.name && one.type !== "hidden" && one.type !== "submit");

export function typed(form) {
  return controls(form)
    .filter((one) => !["radio", "checkbox"].includes(one.type) || one.checked)
    .map((one) => [one.name, one.value]);
}

export function fill(form, pairs) {
  const rest = pairs.slice();
  for (const one of controls(form)) {
    if (["radio", "checkbox"].includes(one.type)) {
      one.checked = pairs.some(([name, text]) => name === one.name && text === one.value);
    } else {
      const at = rest.findIndex(([name]) => name === one.name); // the places of a ranking share a name
      one.value = at < 0 ? "" : rest.splice(at, 1)[0][1];
    }
  }
  showAsked();
}

// A text to compare answers by. It excludes the text boxes of give back, report and ask, which are kept only in this
// browser.
export function stamp(form) {
  return stampOf(form, typed(form));
}

export function stampOf(form, pairs) {
  const aside = asides(form);
  return JSON.stringify(pairs.filter(([name, text]) => text !== "" && !aside.has(name)));
}

export function hasAside(form, pairs) {
  const aside = asides(form);
  return pairs.some(([name, text]) => text !== "" && aside.has(name));
}

const asides = (form) => new Set([...form.querySelectorAll(".ways-out textarea")].map((box) => box.name));

export function isWriting(target) {
  return target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
}
