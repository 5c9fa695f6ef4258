// Buttons that copy: a list of texts, one per line, or the id before the button.
import { announce } from "./page.js";

const FEEDBACK_MS = 2000;

for (const button of document.querySelectorAll("[data-copy-from]")) {
  if (!navigator.clipboard) continue; // not available without TLS: the texts can be selected
  button.hidden = false;
  button.addEventListener("click", async () => {
    const elements = [...document.querySelectorAll(button.dataset.copyFrom)];
    const lines = elements.map((element) => element.parentElement.textContent.trim().replace(/\s+/g, " "));
    await navigator.clipboard.writeText(lines.join("\n"));
    button.textContent = button.dataset.done;
  });
}

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", () => copyId(button));
}

// If the clipboard can't be written, the id is selected instead.
async function copyId(button) {
  const id = button.previousElementSibling;
  try {
    await navigator.clipboard.writeText(id.textContent);
    announce(button.dataset.message);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), FEEDBACK_MS);
  } catch {
    getSelection().selectAllChildren(id);
  }
}
