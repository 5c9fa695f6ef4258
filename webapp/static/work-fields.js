// What stands in the form, as pairs of name and text.

const controls = (form) => [...form.elements].filter((one) => one.name && one.type !== "hidden" && one.type !== "submit");

export function typed(form) {
  return controls(form)
    .filter((one) => !["radio", "checkbox"].includes(one.type) || one.checked)
    .map((one) => [one.name, one.value]);
}

export function fill(form, pairs) {
  for (const one of controls(form)) {
    const texts = pairs.filter(([name]) => name === one.name).map(([, text]) => text);
    if (["radio", "checkbox"].includes(one.type)) one.checked = texts.includes(one.value);
    else one.value = texts[0] ?? "";
  }
}

// To tell whether something else stands in the form than before.
export function stamp(form) {
  return JSON.stringify(typed(form).filter(([, text]) => text !== ""));
}

export function isWriting(target) {
  return target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
}
