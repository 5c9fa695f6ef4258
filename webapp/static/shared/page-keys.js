// Single keys of a manager's page: each presses the element that has it as `data-page-key`. "?" opens the list of
// keys (shared/keys_panel.html) if the page has one; Ctrl+Enter submits the form that the focus is in.
import { isTextInput, keysOf } from "./keys.js";
import { clearKeyRows, listPageKeys } from "./keys-panel.js";
import { areSingleKeysOff } from "./shortcuts-switch.js";

const panel = document.getElementById("keys");

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = event.target.matches("input, select, textarea") && event.target.closest("main form");
    if (!form) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("button:not([type=button])"));
  } else if (!event.ctrlKey && !event.metaKey && !event.altKey && !areSingleKeysOff() && !isTextInput(event.target)) {
    if (event.key === "?" && panel) panel.togglePopover();
    else if (panel?.matches(":popover-open") || !pressKey(event)) return;
    event.preventDefault();
  }
});

function pressKey(event) {
  const element = keysOf(event).map(findElement).find(Boolean);
  if (!element) return false;
  element.click();
  const details = element.matches("summary") ? element.parentElement : null;
  if (details?.open) details.querySelector("textarea, select, input:not([type=hidden]), button").focus();
  else if (details) element.focus();
  return true;
}

function findElement(key) {
  const elements = document.querySelectorAll(`[data-page-key="${CSS.escape(key.toLowerCase())}"]`);
  return [...elements].find((element) => !element.closest("[hidden], [inert]"));
}

panel?.addEventListener("beforetoggle", (event) => {
  if (event.newState !== "open") return;
  clearKeyRows(panel);
  listPageKeys(panel);
});
panel?.addEventListener("toggle", (event) => event.newState === "open" && panel.focus());
for (const button of document.querySelectorAll("[popovertarget=keys]")) button.hidden = false;

