// Shows a conditional field while one of the answers it depends on is given, and hides it otherwise.
document.addEventListener("input", showConditionalFields);

export function showConditionalFields() {
  for (const field of document.querySelectorAll("[data-show-if]")) {
    const form = field.closest("form");
    field.hidden = !JSON.parse(field.dataset.showIf).every(([name, answers]) => hasAnswer(form, name, answers));
  }
}

function hasAnswer(form, name, answers) {
  return [...form.elements].some(
    (input) =>
      input.name === name &&
      (!["radio", "checkbox"].includes(input.type) || input.checked) &&
      answers.includes(input.value) &&
      !input.closest("[data-show-if][hidden]"),
  );
}

showConditionalFields();
