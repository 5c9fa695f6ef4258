// A key for each choice and for each action of the page; Ctrl+Enter submits the current action.
import { isTextInput, keysOf } from "../shared/keys.js";
import { addKeyRow, clearKeyRows, listPageKeys } from "../shared/keys-panel.js";
import { areSingleKeysOff } from "../shared/shortcuts-switch.js";

const UNSEEN_MS = 500; // an item with questions of its own takes no key before: it was meant for the item before
const TENS_MS = 1000; // within which 1 and 0 mean 10

let form;
let root;
let shownAt = 0;
let isKeyRefused = false; // a key was pressed before the item was seen
let lastDigit = { key: "", at: 0 };

export function begin(view) {
  ({ form, root } = view);
  shownAt = performance.now();
  if (isKeyRefused) showRefusedKey();
  for (const button of document.querySelectorAll("#lease-status [popovertarget=keys]")) button.hidden = false;
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if ((form.inert || isUnseen()) && isInput(event)) return refuseKey(event);
  if (isKeyRefused) hideRefusedKey();
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
  if (!target) return;
  event.preventDefault();
  if (target.matches("input, summary, .rank-option")) target.focus(); // other buttons don't take the focus from the scrolling item
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

// The focused question owns the digits; then come the form's keys, then the first scale or ranking without an answer.
function findChoice(key) {
  const isUsable = (element) => !element.closest("[inert], [hidden]");
  const choices = [...form.querySelectorAll("[data-key]")].filter(isUsable);
  const hasKey = (choice) => choice.dataset.key === key || choice.dataset.key.toLowerCase() === key.toLowerCase();
  const bound = choices.find((choice) => choice.dataset.key === key) ?? choices.find(hasKey);
  if (!/^[0-9]$/.test(key)) return bound;
  const focused = document.activeElement.closest("#answer [data-name]");
  const unanswered = [...form.querySelectorAll("fieldset[data-name]")].find(
    (question) => isUsable(question) && isScaleOrRanking(question) && !question.querySelector(":checked, [aria-pressed=true]"),
  );
  return (focused && findByDigit(focused, key)) ?? bound ?? (unanswered && findByDigit(unanswered, key));
}

// In a scale a digit means the value, and 1 with 0 the 10; elsewhere the position.
function findByDigit(question, digit) {
  const choices = [...question.querySelectorAll("input[type=radio], input[type=checkbox], .rank-option")];
  if (!isScale(question)) return choices[Number(digit) - 1];
  const isTen = digit === "0" && lastDigit.key === "1" && performance.now() - lastDigit.at < TENS_MS;
  lastDigit = { key: digit, at: performance.now() };
  const ofValue = (value) => choices.find((choice) => choice.value === value);
  return (isTen && ofValue("10")) || ofValue(digit);
}

const isScale = (question) => {
  const values = [...question.querySelectorAll("input[type=radio]")].map(({ value }) => value);
  return values.length > 1 && values.every((value) => /^(\d|10)$/.test(value));
};

const isScaleOrRanking = (question) => isScale(question) || question.querySelector(".rank-option") !== null;

const isUnseen = () => "ownForm" in form.dataset && performance.now() - shownAt < UNSEEN_MS;

// Keys pressed while an answer is saved belong to no item that the person has seen.
const isInput = (event) =>
  !event.target.closest("button, a, summary, input, textarea, select") && // of the notices and the page's header
  ((event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) || event.key === "Enter");

function refuseKey(event) {
  event.preventDefault();
  isKeyRefused = true;
  showRefusedKey();
}

function showRefusedKey() {
  const note = root.querySelector("#key-refused");
  note.textContent = note.dataset.text;
}

function hideRefusedKey() {
  isKeyRefused = false;
  root.querySelector("#key-refused").textContent = "";
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
  for (const choice of form.querySelectorAll("[data-key], [data-mark-key]")) {
    const label = choice.closest("fieldset").querySelector("legend").firstChild.textContent.trim();
    const { key, markKey } = choice.dataset;
    const text = choice.closest(".choice, [data-mark]").querySelector("span")?.textContent ?? choice.firstChild.textContent.trim();
    addKeyRow(keysPanel, key ?? markKey, `${label} · ${text}`);
  }
  listPageKeys(keysPanel);
});
