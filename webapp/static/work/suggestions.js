// A suggested answer is marked until the person changes or confirms it.
import { readFields } from "./form-fields.js";

export function begin({ form, signal }) {
  const questions = [...form.querySelectorAll("[data-suggested]")];
  const isOf = (name, input) => name === input || name.startsWith(`${input}.`); // a table has an input for each cell
  const answerOf = (question) => JSON.stringify(readFields(form).filter(([name]) => isOf(name, `answer.${question.dataset.name}`)));
  const suggestions = new Map(questions.map((question) => [question, answerOf(question)]));
  const confirm = ({ target }) => target.closest("[data-suggested]")?.removeAttribute("data-suggested");
  for (const question of questions) {
    question.addEventListener("input", confirm, { signal });
    question.addEventListener("click", confirm, { signal }); // on the choice that is suggested
  }
  // A draft of this browser was filled in.
  form.addEventListener("filled", () => {
    for (const [question, suggestion] of suggestions) if (answerOf(question) !== suggestion) question.removeAttribute("data-suggested");
  }, { signal });
}
