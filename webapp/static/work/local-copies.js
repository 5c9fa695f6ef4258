// Local copies of the input, until the server has it, by person, queue and item.
const PREFIX = "leaseq typed ";
const DAY_MS = 86_400_000;
const KEEP_MS = 7 * DAY_MS;

export function writeCopy(key, copy) {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify({ ...copy, at: Date.now() }));
  } catch {
    // full, or not allowed: the server's draft remains
  }
}

export function readCopy(key) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + key));
  } catch {
    return null;
  }
}

export function deleteCopy(key) {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // not allowed: nothing is stored either
  }
}

// The server refused it: it is not resent automatically, but the text stays.
export function cancelResend(key) {
  const { pairs, base, sent, otherVersion } = readCopy(key) ?? {};
  if (pairs) writeCopy(key, { pairs, base, sent, otherVersion });
}

// This person's answers that never reached the server, as [key, copy].
export function findUnsent(person) {
  return readAll().filter(([key, copy]) => copy?.unsentPost && JSON.parse(key)[0] === person);
}

function readAll() {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
    return names.map((name) => [name.slice(PREFIX.length), readCopy(name.slice(PREFIX.length))]);
  } catch {
    return [];
  }
}

for (const [key, copy] of readAll()) {
  if (!copy || copy.at < Date.now() - (copy.isOnServer ? DAY_MS : KEEP_MS)) deleteCopy(key);
}
