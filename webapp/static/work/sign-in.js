// Signs in again without leaving the page, so that the form stays filled.
import { fetchSession } from "../shared/session.js";

const dialog = document.getElementById("sign-in");

// The CSRF token of the new session, or null if the dialog was closed.
export function signIn(person) {
  const form = dialog.querySelector("form");
  const password = form.elements.password;
  const error = dialog.querySelector("[role=alert]");
  error.textContent = "";
  dialog.showModal();
  password.focus();
  return new Promise((resolve) => {
    const controller = new AbortController();
    const { signal } = controller;
    const close = (csrfToken) => {
      controller.abort();
      password.value = "";
      dialog.close();
      resolve(csrfToken);
    };
    // Closes the dialog if the person is signed in. Returns whether anybody is.
    const checkSession = async () => {
      const session = await fetchSession();
      if (session?.person === person) close(session.csrf);
      else if (session) error.textContent = dialog.dataset.wrongPerson;
      return session !== null;
    };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      error.textContent = "";
      const message = await postSignIn(person, password.value);
      if (!(await checkSession())) error.textContent = message;
    }, { signal });
    window.addEventListener("focus", checkSession, { signal }); // they may have signed in elsewhere
    dialog.querySelector("[data-action=close]").addEventListener("click", () => close(null), { signal });
    dialog.addEventListener("cancel", () => close(null), { signal });
  });
}

// Posts the sign-in page's form. Returns its error, or why the sign-in is not complete.
async function postSignIn(name, password) {
  const { loginUrl, unavailable, moreSteps } = dialog.dataset;
  try {
    const page = parseHtml(await (await fetch(loginUrl)).text());
    const body = new URLSearchParams({ csrf_token: page.querySelector("[name=csrf_token]").value, name, password });
    const response = await fetch(loginUrl, { method: "POST", body, redirect: "manual" });
    if (response.type === "opaqueredirect" || response.ok) return moreSteps;
    const main = parseHtml(await response.text()).querySelector("main");
    return (main.querySelector("[role=alert]") ?? main.querySelector("h1 + p"))?.textContent ?? unavailable;
  } catch {
    return unavailable;
  }
}

const parseHtml = (html) => new DOMParser().parseFromString(html, "text/html");
