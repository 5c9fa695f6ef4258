// Updates the preview while the manager types, and warns before unsaved changes are lost.
import { showJson } from "./form-builder.js";
import { showAsked } from "../shared/conditions.js";
import { standsInTheWay } from "../shared/session.js";

const form = document.getElementById("settings");
const piece = document.getElementById("piece");
const SEEN_BY = new Set(["title", "instructions", "form", "sample"]);
const PAUSE = 250; // ms after the last key

let timer = null;
let requestCount = 0;
let changed = document.querySelector("[role=alert], .note") !== null;

form.addEventListener("input", (event) => {
  if (event.target.closest("#preview")) return;
  changed = true;
  if (!SEEN_BY.has(event.target.name)) return;
  clearTimeout(timer);
  timer = setTimeout(() => show(), PAUSE);
});

// `item`: number of the queue's item that the preview shows from now on.
async function show(item) {
  const mine = ++requestCount;
  const sent = new URLSearchParams(new FormData(form));
  if (item) sent.set("item", item);
  let answer;
  try {
    answer = await fetch(form.dataset.preview, {
      method: "POST",
      body: sent,
      headers: { "X-Leaseq-Piece": "preview" },
      redirect: "manual", // to the sign-in page
    });
  } catch {
    return; // no connection: the last preview stays
  }
  if (!answer.ok || mine !== requestCount) return;
  const made = document.createElement("template");
  made.innerHTML = await answer.text(); // from our own server and the page's own templates
  if (mine !== requestCount) return;
  const seen = made.content.querySelector("#seen");
  piece.querySelector("#findings").replaceChildren(...made.content.querySelector("#findings").childNodes);
  const old = piece.querySelector("#seen");
  if (seen && old) old.replaceWith(seen);
  else if (seen) piece.append(seen);
  if (item) stepTo(made.content.querySelector("#stepper"));
  showAsked();
}

function stepTo(stepper) {
  const focused = document.activeElement.closest("#stepper button")?.id;
  document.getElementById("sample").value = stepper.dataset.sample;
  document.getElementById("stepper").replaceWith(stepper);
  const button = focused && document.getElementById(focused);
  if (button) (button.disabled ? stepper.querySelector("button:not(:disabled)") : button)?.focus();
}

piece.addEventListener("click", (event) => {
  const step = event.target.closest("#stepper button");
  if (!step) return;
  event.preventDefault();
  show(step.value);
});

// Selects the line with the error.
piece.addEventListener("click", (event) => {
  const button = event.target.closest("[data-line]");
  if (!button) return;
  showJson();
  const text = document.getElementById("form");
  const lines = text.value.split("\n");
  const number = Math.min(Number(button.dataset.line), lines.length);
  const begin = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(begin, begin + lines[number - 1].length);
});

// Enter in the preview submits nothing.
piece.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
});

// Submits only if the session and the server are there: otherwise the page and all unsaved changes would be lost.
let sure = false;
form.addEventListener("submit", async (event) => {
  if (sure) {
    changed = sure = false;
    return;
  }
  event.preventDefault();
  const why = await standsInTheWay(form);
  const trouble = document.getElementById("trouble");
  for (const words of trouble.children) words.hidden = !(why in words.dataset);
  if (why) return trouble.scrollIntoView({ block: "nearest" });
  sure = true;
  form.requestSubmit(event.submitter);
});

window.addEventListener("beforeunload", (event) => {
  if (changed) event.preventDefault();
});
