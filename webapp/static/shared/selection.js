// Counts the selected rows, and selects all rows of the page. Rows may come and go.
const ticks = () => [...document.querySelectorAll('input[type="checkbox"][name][form="chosen"]')];
const all = document.querySelector("[data-all] input");
const summary = document.querySelector("[data-chosen]");
const every = document.querySelector("[data-every]"); // also those on the other pages

const bar = document.getElementById("chosen");

if (all) {
  bar.classList.add("on-selection");
  document.querySelector("[data-plain]").hidden = true;
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const tick of ticks()) tick.checked = all.checked;
    count();
  });
  document.addEventListener("change", (event) => event.target.matches('[form="chosen"]') && count());
  count();
}

function count() {
  const present = ticks();
  const chosen = present.filter((tick) => tick.checked).length;
  all.checked = chosen > 0 && chosen === present.length;
  all.indeterminate = chosen > 0 && !all.checked;
  bar.hidden = chosen === 0;
  summary.textContent = summary.dataset.chosen.replace("{n}", chosen.toLocaleString(document.documentElement.lang));
  if (every) {
    every.hidden = !all.checked;
    if (every.hidden) every.querySelector("input").checked = false;
  }
  if (chosen) {
    const which = summary.closest("label")?.querySelector("input");
    if (which) which.checked = true;
  }
}
