// A page may stay open while its session ends and another begins, as where somebody signs in again in another tab.

// Who is signed in here now, with their CSRF token; null: nobody, or nobody can tell.
export async function session() {
  try {
    const answer = await fetch(document.body.dataset.session, { redirect: "manual" });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
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
