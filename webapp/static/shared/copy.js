// Buttons that copy: a list of texts, one per line, or the id before the button.
import { announce } from "./page.js";

export const FEEDBACK_MS = 2000;

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

async function copyId(button) {
  if (!(await copyOrSelect(button.previousElementSibling))) return;
  announce(button.dataset.message);
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), FEEDBACK_MS);
}

// Browsers allow clipboard access only for https and localhost pages. Elsewhere the text is selected. True if copied.
export async function copyOrSelect(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return false;
  }
}
