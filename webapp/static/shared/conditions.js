// Shows a conditional question while one of the answers it depends on is given, and hides it otherwise.
document.addEventListener("input", showAsked);

export function showAsked() {
  for (const question of document.querySelectorAll("[data-asked-if]")) {
    const form = question.closest("form");
    question.hidden = !JSON.parse(question.dataset.askedIf).every(([name, texts]) => isAnswered(form, name, texts));
  }
}

function isAnswered(form, name, texts) {
  return [...form.elements].some(
    (one) =>
      one.name === name &&
      (!["radio", "checkbox"].includes(one.type) || one.checked) &&
      texts.includes(one.value) &&
      !one.closest("[data-asked-if][hidden]"),
  );
}

showAsked();
