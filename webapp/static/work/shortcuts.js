// A key for each choice and for each action of the page; Ctrl+Enter submits the current action.
import { areOff } from "../shared/shortcuts-switch.js";
import { isWriting } from "./form-fields.js";

let form;
let root;

export function begin(sheet) {
  ({ form, root } = sheet);
  for (const place of document.querySelectorAll("#now [popovertarget=keys]")) place.hidden = false;
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    send(event.target);
  } else if (event.key === "Escape") {
    leave(event.target);
  } else if (!event.ctrlKey && !event.metaKey && !event.altKey && !areOff() && !isWriting(event.target)) {
    single(event);
  }
});

function single(event) {
  const panel = document.querySelector("[popover]:popover-open");
  const opener = event.key === "?" ? document.querySelector("#now [popovertarget=keys]") : null;
  const found = opener ?? pageKey(event.key, panel) ?? (panel ? null : choice(event.key));
  if (!found || root.classList.contains("busy")) return;
  event.preventDefault();
  if (found.matches("input, summary")) found.focus(); // a button does not take the focus from the scrolling item
  found.click();
  const opened = document.querySelector("[popover]:popover-open");
  if (opened && opened !== panel) opened.focus(); // a closed panel returns the focus itself
  if (found.matches("details[open] > summary")) found.parentElement.querySelector("textarea").focus();
  if (found.name && found.name === form.dataset.oneKey) form.requestSubmit(form.querySelector(".bar button"));
}

// Within an open action, such as "Report a problem", submits that action instead of the answer.
function send(target) {
  const way = target.closest(".ways-out details[open]");
  form.requestSubmit((way ?? form.querySelector(".bar")).querySelector("button"));
}

// Closes an open action, else focuses the item, where single keys work and other keys scroll.
function leave(target) {
  if (target.closest(".menu") || document.querySelector("[popover]:popover-open")) return;
  const way = target.closest(".ways-out details[open]");
  if (way) {
    way.open = false;
    way.querySelector("summary").focus();
  } else root.querySelector("#item").focus();
}

function choice(key) {
  const all = [...form.querySelectorAll("input[data-key]")].filter((input) => !input.closest("[inert], [hidden]"));
  return all.find((input) => input.dataset.key === key) ?? all.find((input) => input.dataset.key.toLowerCase() === key.toLowerCase());
}

// While a panel is open, only the key that opened it works, and closes it.
function pageKey(key, panel) {
  const all = [...document.querySelectorAll(`[data-page-key="${CSS.escape(key.toLowerCase())}"]`)];
  return all.find((one) => !one.closest("[hidden], [inert]") && (!panel || one.getAttribute("popovertarget") === panel.id));
}

// The list of all keys, built from the current page.

const list = document.getElementById("keys");

list.addEventListener("beforetoggle", (event) => {
  if (event.newState !== "open") return;
  const body = list.querySelector("dl");
  for (const made of body.querySelectorAll(".made")) made.remove();
  for (const input of form.querySelectorAll("input[data-key]")) {
    const field = input.closest("fieldset").querySelector("legend").firstChild.textContent.trim();
    body.append(line(input.dataset.key, `${field} · ${input.closest("label").querySelector("span").textContent}`));
  }
  for (const one of document.querySelectorAll("[data-page-key]:not([hidden])")) {
    const name = [...one.childNodes].find((node) => node.textContent.trim());
    body.append(line(one.dataset.pageKey, name.textContent.trim()));
  }
});

function line(key, what) {
  const made = document.createElement("div");
  made.className = "made";
  made.append(document.createElement("dt"), document.createElement("dd"));
  made.querySelector("dt").append(document.createElement("kbd"));
  made.querySelector("kbd").textContent = key.toUpperCase();
  made.querySelector("dd").textContent = what;
  return made;
}
