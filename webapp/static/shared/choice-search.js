// Finds an option among many boxes: shows those that contain each typed word. Enter selects the first.

const isSearch = (target) => target.matches(".choice-search input");
const choicesOf = (element) => [...element.closest("fieldset").querySelectorAll(".choice")];
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

document.addEventListener(
  "input",
  (event) => {
    if (!isSearch(event.target)) return;
    event.stopPropagation(); // it is no answer
    search(event.target);
  },
  { capture: true },
);

document.addEventListener("keydown", (event) => {
  if (!isSearch(event.target) || event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
  event.preventDefault();
  const choice = choicesOf(event.target).find(({ hidden }) => !hidden);
  if (!event.target.value.trim() || !choice) return;
  event.target.value = "";
  search(event.target);
  choice.querySelector("input").click();
});

for (const type of ["focusin", "change"]) {
  document.addEventListener(type, ({ target }) => {
    const input = target.closest("fieldset")?.querySelector(":scope > .choice-search input");
    if (input) showCounts(input);
  });
}

function search(input) {
  const words = fold(input.value).split(/\s+/);
  for (const choice of choicesOf(input)) {
    const label = fold(choice.querySelector("span").textContent);
    choice.hidden = !words.every((word) => label.includes(word));
  }
  showCounts(input);
}

function showCounts(input) {
  const status = input.closest(".choice-search").querySelector("[role=status]");
  const choices = choicesOf(input);
  const counts = {
    shown: choices.filter(({ hidden }) => !hidden).length,
    all: choices.length,
    selected: choices.filter((choice) => choice.querySelector("input").checked).length,
  };
  status.textContent = status.dataset.text.replace(/\{(\w+)\}/g, (_, name) => counts[name]);
}
