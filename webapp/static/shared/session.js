// A page may stay open while its session ends and another begins, as where somebody signs in again in another tab.

// Who is signed in here now, with their CSRF token; or why that isn't known: they are "out", or the server is "away".
async function look() {
  try {
    const answer = await fetch(document.body.dataset.session, { redirect: "manual" });
    if (answer.type === "opaqueredirect") return { why: "out" };
    return answer.ok ? await answer.json() : { why: "away" };
  } catch {
    return { why: "away" };
  }
}

// The same; null: nobody, or nobody can tell.
export async function session() {
  const known = await look();
  return known.why ? null : known;
}

// Why a form that is sent now would be lost; "" where it would not: it has the token of the present session then.
export async function standsInTheWay(form) {
  const known = await look();
  if (!known.why) form.elements.csrf_token.value = known.csrf;
  return known.why ?? "";
}

// Gives the page's forms the token of the present session. False where its person is not signed in.
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

// A POST with the token that the page's forms have now: `body` is called for each try. SignedOut: they have to sign in.
export async function post(url, body) {
  for (let renewed = false; ; renewed = true) {
    const answer = await fetch(url, { method: "POST", body: body(), redirect: "manual" });
    const out = answer.type === "opaqueredirect";
    if (!out && (answer.status !== 403 || renewed)) return answer;
    if (renewed || !(await renew())) throw new SignedOut();
  }
}
