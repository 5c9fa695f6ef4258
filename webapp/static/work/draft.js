// Saves the input: promptly in this browser, and after a pause as a draft on the server. The local copy stays until
// the answer is sent, since another window may overwrite the draft.
import { formatTime } from "../shared/page.js";
import { fill, hasActionText, readFields, serializeForm, serializePairs } from "./form-fields.js";
import { readCopy, writeCopy } from "./local-copies.js";

const LOCAL_DELAY_MS = 100; // after the last change
const SERVER_DELAY_MS = 600;
const MAX_KEEPALIVE_CHARS = 60_000; // that a browser can still send while the page closes

export function begin(view) {
  const { form, signal } = view;
  const status = form.querySelector("#draft-status");
  let base = serializeForm(form); // the version known to be on the server
  let sent = base; // the last version that was sent there
  let localTimer = null;
  let serverTimer = null;
  let saving = Promise.resolve();
  let isSubmitted = false;

  const writeLocalCopy = (more = {}) => {
    writeCopy(view.key, { pairs: readFields(form), base, sent, otherVersion: view.otherVersion, ...more });
  };

  const saveLocally = () => {
    clearTimeout(localTimer);
    localTimer = null;
    writeLocalCopy();
  };

  const scheduleSave = () => {
    if (!form.dataset.draftUrl || view.isOpenElsewhere) return;
    isSubmitted = false;
    if (status) status.textContent = "";
    clearTimeout(localTimer);
    clearTimeout(serverTimer);
    localTimer = setTimeout(saveLocally, LOCAL_DELAY_MS);
    serverTimer = setTimeout(saveOnServer, SERVER_DELAY_MS);
  };

  const saveOnServer = () => {
    clearTimeout(serverTimer);
    serverTimer = null;
    saving = saving.then(postDraft);
  };

  async function postDraft() {
    const content = (sent = serializeForm(form));
    const body = new URLSearchParams(new FormData(form));
    const keepalive = body.toString().length < MAX_KEEPALIVE_CHARS;
    let outcome = "unavailable";
    try {
      const response = await fetch(form.dataset.draftUrl, { method: "POST", body, redirect: "manual", keepalive });
      if (response.ok) outcome = "saved";
      else if (response.type === "opaqueredirect") outcome = "signedOut";
      else if (response.status === 409 || response.status === 404) outcome = "leaseLost";
      else if (response.status < 500) outcome = "refused";
    } catch {
      // no connection
    }
    const isNewest = serializeForm(form) === content;
    if (outcome === "saved") {
      base = content;
      if (!isSubmitted && isNewest) writeLocalCopy({ isOnServer: true });
    }
    if (outcome === "leaseLost") view.endLease?.();
    else if (status && (outcome !== "saved" || isNewest)) status.textContent = status.dataset[outcome];
  }

  const saveNow = () => {
    if (localTimer !== null) saveLocally();
    if (serverTimer !== null) saveOnServer();
  };

  view.saveDraftNow = saveNow;
  view.fill = (pairs) => {
    fill(form, pairs);
    scheduleSave();
  };
  // The answer is being sent: the local copy stays until the server has it.
  view.storeForSending = (url, body) => {
    view.cancelDraft();
    isSubmitted = true;
    writeLocalCopy({ unsentPost: { url, body: [...body] } });
  };
  view.cancelDraft = () => {
    clearTimeout(localTimer);
    clearTimeout(serverTimer);
    localTimer = serverTimer = null;
  };

  form.addEventListener("input", scheduleSave, { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && saveNow(), { signal });
  window.addEventListener("pagehide", saveNow, { signal });
  signal.addEventListener("abort", saveNow);
  restore(view, base);
}

// If the local copy differs from the page: fill it in if no other window has saved since, else offer it.
function restore(view, base) {
  const { form } = view;
  const copy = readCopy(view.key);
  if (!copy || !form.dataset.draftUrl) return;
  const content = serializePairs(form, copy.pairs);
  if (copy.otherVersion && serializePairs(form, copy.otherVersion.pairs) !== base) view.otherVersion = copy.otherVersion;
  if (content === base) {
    // No notice: the page shows it already, and the server has it or will soon.
    if (!copy.isOnServer || hasActionText(form, copy.pairs)) fillAndOpen(view, copy.pairs);
    if (view.otherVersion) offerOtherVersion(view, "superseded");
  } else if (copy.base === base || copy.sent === base) {
    fillAndOpen(view, copy.pairs);
    showNotice(view, "restored", copy.at);
  } else {
    view.otherVersion = { pairs: copy.pairs, at: copy.at };
    offerOtherVersion(view, copy.isOnServer ? "superseded" : "unsaved");
  }
}

// Fills in the form, and opens the item actions whose text boxes have text.
function fillAndOpen(view, pairs) {
  view.fill(pairs);
  for (const textarea of view.form.querySelectorAll(".item-actions textarea")) {
    textarea.closest("details").open = textarea.value !== "" || textarea.matches("[aria-invalid=true]");
  }
}

function showNotice(view, kind, time) {
  const notice = view.root.querySelector("#local-copy");
  notice.querySelector("span").textContent = notice.dataset[kind].replace("{time}", formatTime(time));
  notice.querySelector("button").hidden = kind === "restored";
  notice.hidden = false;
}

// Accepting the offer swaps the other version with the current content of the form.
function offerOtherVersion(view, kind) {
  showNotice(view, kind, view.otherVersion.at);
  const notice = view.root.querySelector("#local-copy");
  notice.querySelector("button").addEventListener("click", () => {
    const { pairs } = view.otherVersion;
    view.otherVersion = { pairs: readFields(view.form), at: Date.now() };
    fillAndOpen(view, pairs);
    notice.hidden = true;
  });
}
