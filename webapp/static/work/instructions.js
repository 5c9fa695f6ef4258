// Opens the instructions at a person's first item of a queue, and again when they have changed.
const PREFIX = "leaseq instructions ";

export function begin({ root, form, person, queue, signal }) {
  const panel = root.querySelector("#how-to");
  if (!panel || !form.dataset.renewUrl) return;
  const key = PREFIX + JSON.stringify([person, queue]);
  panel.addEventListener("toggle", ({ newState }) => newState === "closed" && remember(key, panel.dataset.version), { signal });
  if (recall(key) === panel.dataset.version || root.querySelector("#errors")) return;
  panel.showPopover();
  panel.focus();
}

function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key, version) {
  try {
    localStorage.setItem(key, version);
  } catch {
    // not allowed: they open again
  }
}
