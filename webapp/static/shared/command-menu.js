// The command menu: Ctrl K opens it, the server finds commands for the typed words, arrow keys and Enter select one.
// Its markup follows the combobox pattern of the ARIA Authoring Practices Guide.
import { isKey } from "./keys.js";
import { fetchFragment } from "./page.js";

const TYPING_MS = 80; // a pause in typing, after which the words are sent

const dialog = document.getElementById("commands");
const input = dialog.querySelector("input[role=combobox]");
const list = dialog.querySelector("[role=listbox]");
const noMatches = dialog.querySelector(".no-matches");
let request = new AbortController();
let isFound = Promise.resolve(); // resolved when the list is for the typed words

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

function open() {
  input.value = "";
  dialog.showModal();
  isFound = find(0);
}

input.addEventListener("input", () => (isFound = find(TYPING_MS)));

async function find(delay) {
  request.abort();
  const { signal } = (request = new AbortController());
  if (delay) await new Promise((resolve) => setTimeout(resolve, delay));
  if (signal.aborted) return isFound;
  const url = new URL(dialog.dataset.load, location.href);
  url.searchParams.set("q", input.value);
  list.classList.add("saving");
  const html = await fetchFragment(url, undefined, signal);
  if (signal.aborted) return isFound;
  list.classList.remove("saving");
  if (html === null) filter(); // no connection
  else list.innerHTML = html;
  const options = getOptions();
  noMatches.hidden = options.length > 0;
  select(options[0]);
}

// Of the last list, show the options that contain every typed word.
function filter() {
  const words = input.value.toLowerCase().split(/\s+/);
  for (const option of list.children) {
    const text = option.textContent.toLowerCase();
    option.hidden = !words.every((word) => text.includes(word));
  }
}

const getOptions = () => [...list.querySelectorAll("[role=option]:not([hidden])")];

function select(option) {
  for (const selected of list.querySelectorAll("[aria-selected=true]")) selected.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) input.setAttribute("aria-activedescendant", option.id);
  else input.removeAttribute("aria-activedescendant");
}

input.addEventListener("keydown", async (event) => {
  if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    await isFound;
    if (dialog.open) list.querySelector("[aria-selected=true]")?.click();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const options = getOptions();
    const index = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
    const step = event.key === "ArrowDown" ? 1 : -1;
    select(options[(index + step + options.length) % options.length]);
  }
});

// A click outside closes it.
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
