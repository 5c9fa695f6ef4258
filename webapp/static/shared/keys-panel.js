// The list of a page's keys (shared/keys_panel.html), built from what the page shows when it opens.

export function clearKeyRows(panel) {
  for (const row of panel.querySelectorAll(".generated")) row.remove();
}

export function addKeyRow(panel, key, description) {
  const row = document.createElement("div");
  row.className = "generated";
  row.append(document.createElement("dt"), document.createElement("dd"));
  row.querySelector("dt").append(document.createElement("kbd"));
  row.querySelector("kbd").textContent = key.toUpperCase();
  row.querySelector("dd").textContent = description;
  panel.querySelector("dl").append(row);
}

// A row for each element with a `data-page-key`, with its own text.
export function listPageKeys(panel) {
  for (const element of document.querySelectorAll("[data-page-key]:not([hidden])")) {
    const name = [...element.childNodes].find((node) => node.textContent.trim());
    addKeyRow(panel, element.dataset.pageKey, name.textContent.trim());
  }
}
