// Counts the selected rows, and selects all rows of the page. Rows may come and go.
const getCheckboxes = () => [...document.querySelectorAll('input[type="checkbox"][name][form="bulk-form"]')];
const selectAll = document.querySelector("[data-select-all] input");
const selectedCount = document.querySelector("[data-selected-count]");
const selectAllPages = document.querySelector("[data-select-all-pages]");

const bulkForm = document.getElementById("bulk-form");

if (selectAll) {
  bulkForm.classList.add("floating");
  document.querySelector("[data-select-heading]").hidden = true;
  selectAll.closest("label").hidden = false;
  selectAll.addEventListener("change", () => {
    for (const checkbox of getCheckboxes()) checkbox.checked = selectAll.checked;
    showSelection();
  });
  document.addEventListener("change", (event) => event.target.matches('[form="bulk-form"]') && showSelection());
  showSelection();
}

function showSelection() {
  const checkboxes = getCheckboxes();
  const count = checkboxes.filter((checkbox) => checkbox.checked).length;
  selectAll.checked = count > 0 && count === checkboxes.length;
  selectAll.indeterminate = count > 0 && !selectAll.checked;
  bulkForm.hidden = count === 0;
  const template = selectedCount.dataset.selectedCount;
  selectedCount.textContent = template.replace("{n}", count.toLocaleString(document.documentElement.lang));
  if (selectAllPages) {
    selectAllPages.hidden = !selectAll.checked;
    if (selectAllPages.hidden) selectAllPages.querySelector("input").checked = false;
  }
  if (count) {
    const radio = selectedCount.closest("label")?.querySelector("input");
    if (radio) radio.checked = true;
  }
}
