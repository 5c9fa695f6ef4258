// A page may stay open while its session ends and another begins, for example in another tab.

// `session`: the person now signed in, with their CSRF token; else `problem`: "signed-out", "disabled" (their account)
// or "unavailable".
export async function requestSession() {
  try {
    const response = await fetch(document.body.dataset.sessionUrl, { redirect: "manual" });
    if (response.type === "opaqueredirect") return { problem: "signed-out" };
    if (response.status === 403) return { problem: "disabled" };
    return response.ok ? { session: await response.json() } : { problem: "unavailable" };
  } catch {
    return { problem: "unavailable" };
  }
}

// The current session; null if nobody is signed in or the server is unreachable.
export async function fetchSession() {
  return (await requestSession()).session ?? null;
}

// Why `form` would be lost if it were sent now ("signed-out", "unavailable"), or "". In the latter case the form gets
// the current CSRF token.
export async function checkSession(form) {
  const { session, problem } = await requestSession();
  if (session) form.elements.csrf_token.value = session.csrf;
  return problem ?? "";
}

// Sets the session's CSRF token in the page's forms. False if it is not of the page's person.
function setCsrfTokens(session) {
  if (session?.person !== document.body.dataset.person) return false;
  const roots = [document, ...[...document.querySelectorAll("template")].map((template) => template.content)];
  for (const root of roots) {
    for (const input of root.querySelectorAll("[name=csrf_token]")) input.value = session.csrf;
  }
  return true;
}

export async function renewCsrfTokens() {
  setCsrfTokens(await fetchSession());
}

export class SignedOutError extends Error {}

// POSTs with the CSRF token of the page's forms; calls `makeBody` for each attempt. Throws SignedOutError if a sign-in
// is needed.
export async function post(url, makeBody) {
  for (let isRenewed = false; ; isRenewed = true) {
    const response = await fetch(url, { method: "POST", body: makeBody(), redirect: "manual" });
    const isSignedOut = response.type === "opaqueredirect";
    if (!isSignedOut && (response.status !== 403 || isRenewed)) return response;
    const { session, problem } = await requestSession();
    if (problem === "disabled") return response;
    if (isRenewed || !setCsrfTokens(session)) throw new SignedOutError();
  }
}
