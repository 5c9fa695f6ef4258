// The rows of a table of inputs. An input's name contains the number of its row, as in answer.orders.0.article.

export const rowsOf = (table) => [...table.tBodies[0].rows];
export const inputsOf = (row) => [...row.querySelectorAll("[data-column]")];

// Inserts an empty row before another, or at the end.
export function insertRow(table, next = null) {
  const row = table.closest("fieldset").querySelector("template").content.querySelector("tr").cloneNode(true);
  table.tBodies[0].insertBefore(row, next);
  numberRows(table, row);
  return row;
}

// Numbers the rows from this one on.
export function numberRows(table, first) {
  let index = first?.sectionRowIndex; // counting is faster than asking each row
  for (let row = first; row; row = row.nextElementSibling, index++) {
    row.firstElementChild.textContent = index + 1;
    row.querySelector("button")?.setAttribute("aria-label", `${row.querySelector("button").title} ${index + 1}`);
    for (const input of inputsOf(row)) {
      input.name = `${table.dataset.name}.${index}.${input.dataset.column}`;
      input.setAttribute("aria-label", `${input.dataset.label} ${index + 1}`);
    }
  }
}

// Adds rows until there is an input for each of these names.
export function makeRoom(form, names) {
  for (const table of form.querySelectorAll("table.rows")) {
    const prefix = table.dataset.name + ".";
    const indexes = names.filter((name) => name.startsWith(prefix)).map((name) => parseInt(name.slice(prefix.length)));
    const count = Math.min(Math.max(-1, ...indexes.filter(Number.isInteger)) + 1, Number(table.dataset.max));
    while (table.tBodies[0].rows.length < count) insertRow(table);
  }
}
