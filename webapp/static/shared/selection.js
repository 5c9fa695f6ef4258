// How many are chosen, and all on the page at once.
const ticks = [...document.querySelectorAll('input[type="checkbox"][form="chosen"]')];
const all = document.querySelector("[data-all] input");
const said = document.querySelector("[data-chosen]");

const bar = document.getElementById("chosen");

if (all) {
  bar.classList.add("on-selection");
  document.querySelector("[data-plain]").hidden = true;
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const tick of ticks) tick.checked = all.checked;
    count();
  });
  for (const tick of ticks) tick.addEventListener("change", count);
  count();
}

function count() {
  const chosen = ticks.filter((tick) => tick.checked).length;
  all.checked = chosen === ticks.length;
  all.indeterminate = chosen > 0 && chosen < ticks.length;
  bar.hidden = chosen === 0;
  said.textContent = said.dataset.chosen.replace("{n}", chosen.toLocaleString(document.documentElement.lang));
  if (chosen) {
    const which = said.closest("label")?.querySelector("input");
    if (which) which.checked = true;
  }
}
