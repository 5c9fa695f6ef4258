// Saves what is typed: promptly in this browser, and after a pause as a draft on the server. The local copy
// stays until the answer is sent, since another window may overwrite the draft.
import { local } from "../shared/page.js";
import { fill, hasAside, stamp, stampOf, typed } from "./form-fields.js";
import { get, put } from "./local-copies.js";

const HERE = 100; // ms after the last key
const THERE = 600;
const LONGEST_LAST_WORD = 60_000; // characters that a browser can still send while the page closes

export function begin(sheet) {
  const { form, signal } = sheet;
  const note = form.querySelector("#draft");
  let base = stamp(form); // the version known to be on the server
  let soon = null;
  let later = null;
  let saving = Promise.resolve();
  let sent = false;

  const keep = (more = {}) => put(sheet.what, { pairs: typed(form), base, other: sheet.other, ...more });

  const keepHere = () => {
    clearTimeout(soon);
    soon = null;
    keep();
  };

  const changed = () => {
    sheet.touched = true;
    if (!form.dataset.draft || sheet.elsewhere) return;
    sent = false;
    if (note) note.textContent = "";
    clearTimeout(soon);
    clearTimeout(later);
    soon = setTimeout(keepHere, HERE);
    later = setTimeout(keepThere, THERE);
  };

  const keepThere = () => {
    clearTimeout(later);
    later = null;
    saving = saving.then(save);
  };

  async function save() {
    const now = stamp(form);
    const body = new URLSearchParams(new FormData(form));
    const options = { method: "POST", body, redirect: "manual", keepalive: body.toString().length < LONGEST_LAST_WORD };
    let why = "away";
    try {
      const answer = await fetch(form.dataset.draft, options);
      if (answer.ok) why = "saved";
      else if (answer.type === "opaqueredirect") why = "out";
      else if (answer.status === 409 || answer.status === 404) why = "over";
      else if (answer.status < 500) why = "refused";
    } catch {
      // no connection
    }
    if (why === "saved") {
      base = now;
      if (!sent && stamp(form) === now) keep({ saved: true });
    }
    if (why === "over") sheet.over?.();
    else if (note) note.textContent = note.dataset[why];
  }

  const flush = () => {
    if (soon !== null) keepHere();
    if (later !== null) keepThere();
  };

  sheet.flush = flush;
  sheet.filled = (pairs) => {
    fill(form, pairs);
    changed();
  };
  // The answer is being sent: the local copy stays until the server has it.
  sheet.keepToSend = (url, body) => {
    sheet.stopDraft();
    sent = true;
    keep({ send: { url, body: [...body] } });
  };
  sheet.stopDraft = () => {
    clearTimeout(soon);
    clearTimeout(later);
    soon = later = null;
  };

  form.addEventListener("input", changed, { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && flush(), { signal });
  window.addEventListener("pagehide", flush, { signal });
  signal.addEventListener("abort", flush);
  restore(sheet, base);
}

// If the local copy differs from the page: fill it in if no other window has saved since, else offer it.
function restore(sheet, base) {
  const { form } = sheet;
  const kept = get(sheet.what);
  if (!kept || !form.dataset.draft) return;
  const mine = stampOf(form, kept.pairs);
  if (kept.other && stampOf(form, kept.other.pairs) !== base) sheet.other = kept.other;
  if (mine === base) {
    // No notice: the page shows it already, and the server has it or will soon.
    if (!kept.saved || hasAside(form, kept.pairs)) putIn(sheet, kept.pairs);
    if (sheet.other) offer(sheet, "since");
  } else if (kept.base === base) {
    putIn(sheet, kept.pairs);
    tell(sheet, "back", kept.at);
  } else {
    sheet.other = { pairs: kept.pairs, at: kept.at };
    offer(sheet, kept.saved ? "since" : "other");
  }
}

function putIn(sheet, pairs) {
  sheet.filled(pairs);
  for (const box of sheet.form.querySelectorAll(".ways-out textarea")) box.closest("details").open = box.value !== "" || box.matches("[aria-invalid=true]");
}

function tell(sheet, what, at) {
  const note = sheet.root.querySelector("#typed-here");
  note.querySelector("span").textContent = note.dataset[what].replace("{time}", local(at));
  note.querySelector("button").hidden = what === "back";
  note.hidden = false;
}

// Accepting the offer swaps it with the current content of the form.
function offer(sheet, what) {
  tell(sheet, what, sheet.other.at);
  const note = sheet.root.querySelector("#typed-here");
  note.querySelector("button").addEventListener("click", () => {
    const { pairs } = sheet.other;
    sheet.other = { pairs: typed(sheet.form), at: Date.now() };
    putIn(sheet, pairs);
    note.hidden = true;
  });
}
