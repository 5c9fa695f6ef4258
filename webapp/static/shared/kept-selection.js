// The ids of the items selected in a list, kept in this tab: the list's other pages and the items' own pages share
// them. `list` names the queue and the search.
const storageKey = (list) => `leaseq selection ${JSON.stringify([document.body.dataset.person, list])}`;

export function readSelection(list) {
  try {
    return new Set(JSON.parse(sessionStorage.getItem(storageKey(list)) ?? "[]"));
  } catch {
    return new Set(); // no storage allowed
  }
}

export function writeSelection(list, ids) {
  try {
    if (ids.size) sessionStorage.setItem(storageKey(list), JSON.stringify([...ids]));
    else sessionStorage.removeItem(storageKey(list));
  } catch {
    // It is not kept: storage is full or not allowed.
  }
}
