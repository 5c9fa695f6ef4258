// Asks in a dialog before a lease is released. Without this script, a page asks.
import { pathSegment } from "../shared/page.js";

const dialog = document.getElementById("release");
const form = dialog.querySelector("form");
let asking = null; // the row's form whose button was pressed

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-release]")) return;
  event.preventDefault();
  asking = event.target;
  const row = asking.closest("tr");
  row.dataset.pinned = ""; // so that a live update doesn't remove it meanwhile
  form.action = form.dataset.url.replace("ITEM", () => pathSegment(asking.elements.id.value));
  dialog.querySelector("[data-title]").textContent = row.querySelector(".item-title").textContent.trim();
  dialog.querySelector("[data-person]").textContent = row.querySelector(".person").textContent.trim();
  dialog.showModal();
});

dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => {
  delete asking.closest("tr").dataset.pinned;
  asking.querySelector("button").focus();
});

// A click outside closes it.
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
