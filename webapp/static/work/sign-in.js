// Signs in again without leaving the page, so that the form stays filled.
import { session } from "../shared/session.js";

const dialog = document.getElementById("sign-in");

// The CSRF token of the new session, or null if the dialog was closed.
export function signIn(person) {
  const form = dialog.querySelector("form");
  const password = form.elements.password;
  const problem = dialog.querySelector("[role=alert]");
  problem.textContent = "";
  dialog.showModal();
  password.focus();
  return new Promise((resolve) => {
    const open = new AbortController();
    const { signal } = open;
    const end = (csrf) => {
      open.abort();
      password.value = "";
      dialog.close();
      resolve(csrf);
    };
    const look = async () => {
      const known = await session();
      if (known?.person === person) end(known.csrf);
      else if (known) problem.textContent = dialog.dataset.other;
      return known !== null;
    };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      problem.textContent = "";
      const why = await knock(person, password.value);
      if (!(await look())) problem.textContent = why;
    }, { signal });
    window.addEventListener("focus", look, { signal }); // they may have signed in elsewhere
    dialog.querySelector("[data-does=close]").addEventListener("click", () => end(null), { signal });
    dialog.addEventListener("cancel", () => end(null), { signal });
  });
}

// Posts the sign-in page's form. Returns its error, or why the sign-in is not complete.
async function knock(name, password) {
  const { login, away, more } = dialog.dataset;
  try {
    const page = parsed(await (await fetch(login)).text());
    const body = new URLSearchParams({ csrf_token: page.querySelector("[name=csrf_token]").value, name, password });
    const answer = await fetch(login, { method: "POST", body, redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.ok) return more;
    const main = parsed(await answer.text()).querySelector("main");
    return (main.querySelector("[role=alert]") ?? main.querySelector("h1 + p"))?.textContent ?? away;
  } catch {
    return away;
  }
}

const parsed = (html) => new DOMParser().parseFromString(html, "text/html");
