// Alert rules as rows: only those that have a limit, and one to add.
const list = document.querySelector("[data-alert-rules]");
const adder = document.querySelector("[data-add-rule]");
const select = adder.querySelector("select");
const addButton = adder.querySelector("button");
const rows = [...list.children];
const inputOf = (row) => row.querySelector("input");

for (const row of rows) {
  row.hidden = !inputOf(row).value;
  const removeButton = row.querySelector("[data-remove]");
  removeButton.hidden = false;
  removeButton.addEventListener("click", () => {
    inputOf(row).value = "";
    row.hidden = true;
    inputOf(row).dispatchEvent(new Event("input", { bubbles: true }));
    offerRest();
    select.focus();
  });
}
offerRest();
list.classList.add("ready");

addButton.addEventListener("click", () => {
  const row = rows.find(({ dataset }) => dataset.measure === select.value);
  row.hidden = false;
  list.append(row); // the newest is last
  inputOf(row).focus();
  offerRest();
});

// Offers the measures without a rule: each has at most one.
function offerRest() {
  const rest = rows.filter(({ hidden }) => hidden);
  select.replaceChildren(...rest.map((row) => new Option(row.querySelector("label").textContent, row.dataset.measure)));
  adder.hidden = rest.length === 0;
}
