// Copies texts of the page, one per line, or the id before a button.
import { say } from "./page.js";

for (const button of document.querySelectorAll("[data-copies]")) {
  if (!navigator.clipboard) continue; // not available without TLS: the texts can be selected
  button.hidden = false;
  button.addEventListener("click", async () => {
    const lines = [...document.querySelectorAll(button.dataset.copies)].map((one) => one.parentElement.textContent.trim().replace(/\s+/g, " "));
    await navigator.clipboard.writeText(lines.join("\n"));
    button.textContent = button.dataset.done;
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}

// If the clipboard can't be written, the text is selected instead.
async function copy(button) {
  const text = button.previousElementSibling;
  try {
    await navigator.clipboard.writeText(text.textContent);
    say(button.dataset.copy);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 2000);
  } catch {
    getSelection().selectAllChildren(text);
  }
}
