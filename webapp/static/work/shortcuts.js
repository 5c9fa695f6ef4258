// A key for each choice and for each action of the page; Ctrl+Enter submits the current action.
import { isTextInput, keysOf } from "../shared/keys.js";
import { addKeyRow, clearKeyRows, listPageKeys } from "../shared/keys-panel.js";
import { areSingleKeysOff } from "../shared/shortcuts-switch.js";

let form;
let root;

export function begin(view) {
  ({ form, root } = view);
  for (const button of document.querySelectorAll("#lease-status [popovertarget=keys]")) button.hidden = false;
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    submitAction(event.target);
  } else if (event.key === "Escape") {
    leaveAction(event.target);
  } else if (!event.ctrlKey && !event.metaKey && !event.altKey && !areSingleKeysOff() && !isTextInput(event.target)) {
    pressSingleKey(event);
  }
});

function pressSingleKey(event) {
  const panel = document.querySelector("[popover]:popover-open");
  const helpButton = event.key === "?" ? document.querySelector("#lease-status [popovertarget=keys]") : null;
  const find = (key) => findPageAction(key, panel) ?? (panel ? null : findChoice(key));
  const target = helpButton ?? keysOf(event).map(find).find(Boolean);
  if (!target || root.classList.contains("busy")) return;
  event.preventDefault();
  if (target.matches("input, summary")) target.focus(); // a button does not take the focus from the scrolling item
  target.click();
  const openPanel = document.querySelector("[popover]:popover-open");
  if (openPanel && openPanel !== panel) openPanel.focus(); // a closed panel returns the focus itself
  if (target.matches("details[open] > summary")) target.parentElement.querySelector("textarea").focus();
  if (target.name && target.name === form.dataset.finishingField) form.requestSubmit(form.querySelector(".bar button"));
}

// Within an open action, such as "Report a problem", submits that action instead of the answer.
function submitAction(target) {
  const action = target.closest(".item-actions details[open]");
  form.requestSubmit((action ?? form.querySelector(".bar")).querySelector("button"));
}

// Closes an open action, else focuses the item, where single keys work and other keys scroll.
function leaveAction(target) {
  if (target.closest(".menu") || document.querySelector("[popover]:popover-open")) return;
  const action = target.closest(".item-actions details[open]");
  if (action) {
    action.open = false;
    action.querySelector("summary").focus();
  } else root.querySelector("#item").focus();
}

function findChoice(key) {
  const inputs = [...form.querySelectorAll("input[data-key]")].filter((input) => !input.closest("[inert], [hidden]"));
  return inputs.find((input) => input.dataset.key === key) ?? inputs.find((input) => input.dataset.key.toLowerCase() === key.toLowerCase());
}

// While a panel is open, only the key that opened it works, and closes it.
function findPageAction(key, panel) {
  const elements = [...document.querySelectorAll(`[data-page-key="${CSS.escape(key.toLowerCase())}"]`)];
  return elements.find((element) => !element.closest("[hidden], [inert]") && (!panel || element.getAttribute("popovertarget") === panel.id));
}

// The list of all keys: those of the form, then those of the page.

const keysPanel = document.getElementById("keys");

keysPanel.addEventListener("beforetoggle", (event) => {
  if (event.newState !== "open") return;
  clearKeyRows(keysPanel);
  for (const input of form.querySelectorAll("input[data-key]")) {
    const label = input.closest("fieldset").querySelector("legend").firstChild.textContent.trim();
    addKeyRow(keysPanel, input.dataset.key, `${label} · ${input.closest("label").querySelector("span").textContent}`);
  }
  listPageKeys(keysPanel);
});
