// What this browser keeps of what was typed, until the server has it: by person, queue and item.
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
    // not allowed: there is nothing either
  }
}

// The server has seen it, and said no: it is not sent again by itself, but the words stay.
export function isSent(what) {
  const { pairs, base, other } = get(what) ?? {};
  if (pairs) put(what, { pairs, base, other });
}

// Answers of this person that never reached the server: [what, what was kept].
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
