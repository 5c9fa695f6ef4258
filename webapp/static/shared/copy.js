// Copies texts of the page, one a line.
for (const button of document.querySelectorAll("[data-copies]")) {
  if (!navigator.clipboard) continue; // not on a page without TLS: they can be selected
  button.hidden = false;
  button.addEventListener("click", async () => {
    const lines = [...document.querySelectorAll(button.dataset.copies)].map((one) => one.parentElement.textContent.trim().replace(/\s+/g, " "));
    await navigator.clipboard.writeText(lines.join("\n"));
    button.textContent = button.dataset.done;
  });
}
