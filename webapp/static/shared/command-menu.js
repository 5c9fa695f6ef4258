// The command menu: Ctrl K opens it, words filter its links, arrow keys and Enter select one. Its markup follows the
// combobox pattern of the ARIA Authoring Practices Guide.
const menu = document.getElementById("commands");
const input = menu.querySelector("input");
const list = menu.querySelector("[role=listbox]");
const none = menu.querySelector(".none");
let loaded = false;

for (const opener of document.querySelectorAll("[data-opens=commands]")) {
  opener.hidden = false;
  opener.addEventListener("click", open);
}

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  if (menu.open) menu.close();
  else if (!document.querySelector("dialog[open]")) open();
});

async function open() {
  input.value = "";
  menu.showModal();
  if (!loaded) await load();
  filter();
}

async function load() {
  try {
    const answer = await fetch(menu.dataset.load);
    if (!answer.ok || answer.redirected) return;
    list.innerHTML = await answer.text(); // our own template
    loaded = true;
  } catch {
    // no connection: it is fetched again when opened next
  }
}

input.addEventListener("input", filter);

// An option is shown if it contains every typed word.
function filter() {
  const words = input.value.toLowerCase().split(/\s+/);
  for (const option of options()) {
    const text = option.textContent.toLowerCase();
    option.hidden = !words.every((word) => text.includes(word));
  }
  none.hidden = !loaded || shown().length > 0;
  select(shown()[0]);
}

const options = () => [...list.querySelectorAll("[role=option]")];
const shown = () => options().filter((option) => !option.hidden);

function select(option) {
  for (const one of list.querySelectorAll("[aria-selected=true]")) one.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) input.setAttribute("aria-activedescendant", option.id);
  else input.removeAttribute("aria-activedescendant");
}

input.addEventListener("keydown", (event) => {
  const all = shown();
  const at = all.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    all[at]?.click();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    select(all[(at + step + all.length) % all.length]);
  }
});

// A click outside closes it.
menu.addEventListener("click", (event) => {
  if (event.target === menu) menu.close();
});
