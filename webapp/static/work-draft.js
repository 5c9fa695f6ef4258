// What is typed is kept while it is typed: at once in this browser, and after a pause as a draft on the server.
import { local } from "./page.js";
import { fill, stamp, typed } from "./work-fields.js";
import { drop, get, put } from "./work-store.js";

const HERE = 100; // ms after the last key
const THERE = 600;
const LONGEST_LAST_WORD = 60_000; // characters that a browser still sends while it closes the page

export function begin(sheet) {
  const { form, signal } = sheet;
  const note = form.querySelector("#draft");
  let base = stamp(form); // what the server is known to have
  let soon = null;
  let later = null;
  let saving = Promise.resolve();

  const keepHere = () => {
    clearTimeout(soon);
    soon = null;
    put(sheet.what, { pairs: typed(form), base });
  };

  const changed = () => {
    sheet.touched = true;
    if (!form.dataset.draft || sheet.elsewhere) return;
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
      else if (answer.status < 500) why = "refused";
    } catch {
      // no connection
    }
    if (why === "saved") {
      base = now;
      if (stamp(form) === now && !hasMore(form)) drop(sheet.what);
    }
    if (note) note.textContent = note.dataset[why];
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
  // The answer is on its way: what is kept here stays until the server has it.
  sheet.keepToSend = (url, body) => {
    sheet.stopDraft();
    put(sheet.what, { pairs: typed(form), base, send: { url, body: [...body] } });
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

// The boxes of the ways out are kept in this browser only.
function hasMore(form) {
  return [...form.querySelectorAll(".ways-out textarea")].some((box) => box.value !== "");
}

function restore(sheet, base) {
  const kept = get(sheet.what);
  if (!kept || !sheet.form.dataset.draft) return;
  const note = sheet.root.querySelector("#typed-here");
  const back = () => {
    sheet.filled(kept.pairs);
    for (const box of sheet.form.querySelectorAll(".ways-out textarea")) box.closest("details").open = box.value !== "";
  };
  const text = (words) => (note.querySelector("span").textContent = words.replace("{time}", local(kept.at)));
  const button = note.querySelector("button");
  if (JSON.stringify(kept.pairs.filter(([, value]) => value !== "")) === base) {
    sheet.filled(kept.pairs); // nothing to tell: it stands there, and the server has it soon
    return;
  }
  if (kept.base === base) {
    back();
    text(note.dataset.back);
    button.hidden = true;
  } else {
    text(note.dataset.other);
    button.addEventListener("click", () => {
      back();
      note.hidden = true;
    });
  }
  note.hidden = false;
}
