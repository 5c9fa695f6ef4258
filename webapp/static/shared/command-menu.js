// The command menu: Ctrl K opens it, words filter its links, arrow keys and Enter select one. Its markup follows the
// combobox pattern of the ARIA Authoring Practices Guide.
import { isKey } from "./keys.js";
import { fetchFragment } from "./page.js";

const dialog = document.getElementById("commands");
const input = dialog.querySelector("input");
const list = dialog.querySelector("[role=listbox]");
const noMatches = dialog.querySelector(".no-matches");
let isLoaded = false;

for (const button of document.querySelectorAll("[data-open-dialog=commands]")) {
  button.hidden = false;
  button.addEventListener("click", open);
}

document.addEventListener("keydown", (event) => {
  if (!isKey(event, "k") || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  if (dialog.open) dialog.close();
  else if (!document.querySelector("dialog[open]")) open();
});

async function open() {
  input.value = "";
  dialog.showModal();
  const html = isLoaded ? null : await fetchFragment(dialog.dataset.load); // null: fetched again when opened next
  isLoaded ||= html !== null;
  if (html !== null) list.innerHTML = html;
  filter();
}

input.addEventListener("input", filter);

// An option is shown if it contains every typed word.
function filter() {
  const words = input.value.toLowerCase().split(/\s+/);
  for (const option of getOptions()) {
    const text = option.textContent.toLowerCase();
    option.hidden = !words.every((word) => text.includes(word));
  }
  const matches = getVisibleOptions();
  noMatches.hidden = !isLoaded || matches.length > 0;
  select(matches[0]);
}

const getOptions = () => [...list.querySelectorAll("[role=option]")];
const getVisibleOptions = () => getOptions().filter((option) => !option.hidden);

function select(option) {
  for (const selected of list.querySelectorAll("[aria-selected=true]")) selected.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) input.setAttribute("aria-activedescendant", option.id);
  else input.removeAttribute("aria-activedescendant");
}

input.addEventListener("keydown", (event) => {
  const options = getVisibleOptions();
  const index = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    options[index]?.click();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    select(options[(index + step + options.length) % options.length]);
  }
});

// A click outside closes it.
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
