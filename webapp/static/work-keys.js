// One key a choice, one for each way to let the item go; Ctrl+Enter sends what you are at.
const form = document.getElementById("answer");

document.addEventListener("keydown", (event) => {
  if (event.repeat) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    send(event.target);
  } else if (!event.ctrlKey && !event.metaKey && !event.altKey && !isWriting(event.target)) {
    const found = choice(event.key) ?? pageKey(event.key);
    if (!found) return;
    event.preventDefault();
    found.focus();
    found.click();
    focusInside(found);
  }
});

// Within "Not for me" and "It is broken" it is that which is sent, and not the answer.
function send(target) {
  const way = target.closest(".ways-out details");
  const button = way ? way.querySelector("button") : form.querySelector(".actions button");
  form.requestSubmit(button);
}

function choice(key) {
  return [...form.querySelectorAll("input[data-key]")].find((input) => input.dataset.key === key);
}

function pageKey(key) {
  return document.querySelector(`[data-page-key="${CSS.escape(key.toLowerCase())}"]`);
}

function focusInside(found) {
  if (found.matches("details[open] > summary")) found.parentElement.querySelector("textarea").focus();
}

function isWriting(target) {
  return target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
}
