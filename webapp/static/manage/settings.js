// Updates the preview of the form while the manager types.
import { showJson, updateDefaultKeys } from "./builder/builder.js";
import { startQuestions } from "../shared/questions/start.js";
import { showConditionalFields } from "../shared/conditions.js";
import { parseFragment } from "../shared/page.js";

const form = document.getElementById("settings");
const preview = document.getElementById("preview-content");
const PREVIEWED_FIELDS = new Set(["title", "instructions", "form", "sample"]);
const TYPING_PAUSE_MS = 250;

let previewTimer = null;
let requestCount = 0;

form.addEventListener("input", (event) => {
  if (event.target.closest("#preview")) return;
  if (!PREVIEWED_FIELDS.has(event.target.name)) return;
  clearTimeout(previewTimer);
  previewTimer = setTimeout(() => updatePreview(), TYPING_PAUSE_MS);
});

// `item`: number of the queue's item that the preview shows from now on.
async function updatePreview(item) {
  const requestNumber = ++requestCount;
  const body = new URLSearchParams(new FormData(form));
  if (item) body.set("item", item);
  let response;
  try {
    response = await fetch(form.dataset.preview, {
      method: "POST",
      body,
      headers: { "X-Leaseq-Fragment": "preview" },
      redirect: "manual", // to the sign-in page
    });
  } catch {
    return; // no connection: the last preview stays
  }
  if (!response.ok || requestNumber !== requestCount) return;
  const fragment = parseFragment(await response.text());
  if (requestNumber !== requestCount) return;
  preview.querySelector("#findings").replaceChildren(...fragment.querySelector("#findings").childNodes);
  const oldView = preview.querySelector("#preview-view");
  const newView = fragment.querySelector("#preview-view");
  if (newView && oldView) oldView.replaceWith(newView);
  else if (newView) preview.append(newView);
  if (item) replaceStepper(fragment.querySelector("#stepper"));
  showConditionalFields();
  updateDefaultKeys(preview);
  startQuestions();
}

// Shows the new position among the queue's items, and keeps the focus on a button.
function replaceStepper(stepper) {
  const focusedId = document.activeElement.closest("#stepper button")?.id;
  document.getElementById("sample").value = stepper.dataset.sample;
  document.getElementById("stepper").replaceWith(stepper);
  const button = focusedId && document.getElementById(focusedId);
  if (button) (button.disabled ? stepper.querySelector("button:not(:disabled)") : button)?.focus();
}

preview.addEventListener("click", (event) => {
  const button = event.target.closest("#stepper button");
  if (!button) return;
  event.preventDefault();
  updatePreview(button.value);
});

// Selects the line with the error.
preview.addEventListener("click", (event) => {
  const button = event.target.closest("[data-line]");
  if (!button) return;
  showJson();
  const textArea = document.getElementById("form");
  const lines = textArea.value.split("\n");
  const line = Math.min(Number(button.dataset.line), lines.length);
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  textArea.focus();
  textArea.setSelectionRange(start, start + lines[line - 1].length);
});

// Enter in the preview submits nothing.
preview.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
});

if ("restored" in form.dataset) updatePreview(); // by sections.js
else updateDefaultKeys(preview);
