// The sections of a queue's settings. Changes of one are kept in this tab while another section is open: the index
// marks them, and leaving the settings asks first.
import { showSending } from "../shared/page.js";
import { checkSession } from "../shared/session.js";

const form = document.querySelector("form[data-section]");
const index = document.querySelector(".settings-index");
const discardButton = form.querySelector("[data-discard]");
const PREFIX = `leaseq settings ${JSON.stringify([document.body.dataset.person, index.dataset.queue])} `;
const KEY = PREFIX + form.dataset.section;
const NOT_COMPARED = new Set(["sample"]); // the preview's example, which is not saved

let isStaying = false; // the next page is a section as well, or the answer to this form

// The names and values that the form would send, without the preview's own.
function readEntries() {
  const inputs = [...form.elements].filter(
    (input) =>
      input.name &&
      input.name !== "csrf_token" &&
      input.type !== "submit" &&
      (!["checkbox", "radio"].includes(input.type) || input.checked) &&
      !input.closest("#preview"),
  );
  return inputs.map(({ name, value }) => [name, value]);
}

function fill(entries) {
  const values = Map.groupBy(entries, ([name]) => name);
  for (const input of form.elements) {
    const ofName = values.get(input.name)?.map(([, value]) => value) ?? [];
    if (["checkbox", "radio"].includes(input.type)) input.checked = ofName.includes(input.value);
    else if (ofName.length && !input.closest("#preview")) input.value = ofName[0];
  }
}

const comparable = (entries) => JSON.stringify(entries.filter(([name]) => !NOT_COMPARED.has(name)));

// In this tab's storage, which may be full or not allowed.
function store(copy) {
  try {
    if (copy) sessionStorage.setItem(KEY, JSON.stringify(copy));
    else sessionStorage.removeItem(KEY);
    return true;
  } catch {
    return false;
  }
}

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}

let initial = "unsaved" in form.dataset ? "" : comparable(readEntries());
const kept = initial && read(KEY);
if (kept) {
  fill(kept.entries);
  initial = kept.initial;
  form.dataset.restored = "";
}
let isUnsaved = false;
let isKept = true; // what is unsaved is in the storage
update();

function update() {
  const entries = readEntries();
  isUnsaved = comparable(entries) !== initial;
  isKept = store(isUnsaved ? { initial, entries } : null);
  discardButton.hidden = !isUnsaved;
  for (const link of index.querySelectorAll("[data-section-link]")) {
    link.querySelector(".unsaved").hidden = !isSectionUnsaved(link.dataset.sectionLink);
  }
}

function isSectionUnsaved(section) {
  return section === form.dataset.section ? isUnsaved : read(PREFIX + section) !== null;
}

for (const type of ["input", "change"]) {
  form.addEventListener(type, (event) => {
    if (!event.target.closest("#preview")) update();
  });
}

index.addEventListener("click", (event) => {
  const isNewTab = event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0;
  if (event.target.closest("a") && !isNewTab) isStaying = isKept;
});

discardButton.addEventListener("click", () => {
  store(null);
  isStaying = true;
  location.assign(index.querySelector("[aria-current]").href);
});

// Submits only if the session and the server are there: otherwise the page and all unsaved changes would be lost.
let isSessionChecked = false;
form.addEventListener("submit", async (event) => {
  if (isSessionChecked) {
    isSessionChecked = false;
    isStaying = true;
    store(null); // the answer has the form again if it is not saved
    return;
  }
  event.preventDefault();
  const endSending = showSending(event.submitter);
  const problem = await checkSession(form);
  endSending();
  const messages = document.getElementById("save-problems");
  for (const message of messages.children) message.hidden = message.dataset.problem !== problem;
  if (problem) return messages.scrollIntoView({ block: "nearest" });
  isSessionChecked = true;
  form.requestSubmit(event.submitter);
});

window.addEventListener("pageshow", ({ persisted }) => {
  isStaying = false;
  if (persisted) update();
});

window.addEventListener("beforeunload", (event) => {
  const links = [...index.querySelectorAll("[data-section-link]")];
  if (!isStaying && links.some((link) => isSectionUnsaved(link.dataset.sectionLink))) event.preventDefault();
});
