// The button that selects the item in the list that it was opened from.
import { readSelection, writeSelection } from "../shared/kept-selection.js";
import { announce } from "../shared/page.js";

const button = document.querySelector("[data-select]");

if (button) {
  button.addEventListener("click", () => {
    const ids = readSelection(button.dataset.list);
    if (!ids.delete(button.dataset.select)) ids.add(button.dataset.select);
    writeSelection(button.dataset.list, ids);
    announce(button.dataset.count.replace("{n}", ids.size.toLocaleString(document.documentElement.lang)));
    show();
  });
  button.hidden = false;
  show();
}

function show() {
  const isSelected = readSelection(button.dataset.list).has(button.dataset.select);
  button.setAttribute("aria-pressed", isSelected);
}
