// Removes the error of a question, and its line in the list of errors, once the answer is changed.

export function begin({ root, form, signal }) {
  const errors = root.querySelector("#errors");
  if (errors) form.addEventListener("input", (event) => removeError(errors, event.target), { signal });
}

function removeError(errors, input) {
  const question = input.closest("[data-name]"); // null: the text box of an item action
  const name = question ? question.dataset.name : input.name;
  const line = [...errors.querySelectorAll("li")].find((li) => li.dataset.field === name);
  if (!line) return;
  line.remove();
  if (!errors.querySelector("li")) errors.remove();
  question?.querySelector(".error")?.remove();
  for (const element of question ? [question, ...question.querySelectorAll("[aria-describedby]")] : [input]) {
    element.removeAttribute("aria-invalid");
    removeDescription(element, question ? `error-${question.id || input.id}` : errors.id);
  }
}

function removeDescription(element, id) {
  const ids = (element.getAttribute("aria-describedby") ?? "").split(" ").filter((other) => other && other !== id);
  if (ids.length) element.setAttribute("aria-describedby", ids.join(" "));
  else element.removeAttribute("aria-describedby");
}
