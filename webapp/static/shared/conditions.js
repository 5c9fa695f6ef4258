// Questions that are asked only after certain answers: shown once one of these is given, hidden before.
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
