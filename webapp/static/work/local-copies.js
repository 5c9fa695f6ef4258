// Local copies of what was typed, until the server has it, by person, queue and item.
const PREFIX = "leaseq typed ";
const DAY = 86_400_000; // ms
const KEPT = 7 * DAY;

export function put(what, kept) {
  try {
    localStorage.setItem(PREFIX + what, JSON.stringify({ ...kept, at: Date.now() }));
  } catch {
    // full, or not allowed: the server's draft remains
  }
}

export function get(what) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + what));
  } catch {
    return null;
  }
}

export function drop(what) {
  try {
    localStorage.removeItem(PREFIX + what);
  } catch {
    // not allowed: nothing is stored either
  }
}

// The server refused it: it is not resent automatically, but the text stays.
export function isSent(what) {
  const { pairs, base, other } = get(what) ?? {};
  if (pairs) put(what, { pairs, base, other });
}

// This person's answers that never reached the server, as [what, kept].
export function unsent(person) {
  return all().filter(([what, kept]) => kept?.send && JSON.parse(what)[0] === person);
}

function all() {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
    return names.map((name) => [name.slice(PREFIX.length), get(name.slice(PREFIX.length))]);
  } catch {
    return [];
  }
}

for (const [what, kept] of all()) {
  if (!kept || kept.at < Date.now() - (kept.saved ? DAY : KEPT)) drop(what);
}
