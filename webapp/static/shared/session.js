// A page may stay open while its session ends and another begins, for example in another tab.

// The person now signed in, with their CSRF token; else why that is unknown: "out" (nobody) or "away" (no server).
async function look() {
  try {
    const answer = await fetch(document.body.dataset.session, { redirect: "manual" });
    if (answer.type === "opaqueredirect") return { why: "out" };
    return answer.ok ? await answer.json() : { why: "away" };
  } catch {
    return { why: "away" };
  }
}

// The same; null if nobody is signed in or the server is unreachable.
export async function session() {
  const known = await look();
  return known.why ? null : known;
}

// Why a form sent now would be lost ("out", "away"), or "". In the latter case the form gets the current CSRF token.
export async function standsInTheWay(form) {
  const known = await look();
  if (!known.why) form.elements.csrf_token.value = known.csrf;
  return known.why ?? "";
}

// Sets the current session's CSRF token in the page's forms. False if the page's person is not signed in.
export async function renew() {
  const known = await session();
  if (known?.person !== document.body.dataset.person) return false;
  const places = [document, ...[...document.querySelectorAll("template")].map((one) => one.content)];
  for (const place of places) {
    for (const one of place.querySelectorAll("[name=csrf_token]")) one.value = known.csrf;
  }
  return true;
}

export class SignedOut extends Error {}

// POSTs with the CSRF token of the page's forms; calls `body` for each attempt. Throws SignedOut if a sign-in is needed.
export async function post(url, body) {
  for (let renewed = false; ; renewed = true) {
    const answer = await fetch(url, { method: "POST", body: body(), redirect: "manual" });
    const out = answer.type === "opaqueredirect";
    if (!out && (answer.status !== 403 || renewed)) return answer;
    if (renewed || !(await renew())) throw new SignedOut();
  }
}
