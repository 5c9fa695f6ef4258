// The API page: a link to an entry opens its details, and buttons copy commands.
import { FEEDBACK_MS, copyOrSelect } from "../shared/copy.js";
import { announce } from "../shared/page.js";

function openLinkedEntry() {
  const entry = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!entry?.matches("details.entry")) return;
  entry.open = true;
  entry.scrollIntoView();
  entry.querySelector("summary").focus({ preventScroll: true });
}

addEventListener("hashchange", openLinkedEntry);
addEventListener("load", openLinkedEntry); // not earlier: the browser's own jump to the fragment would take the focus away

// The address names the entry that was opened last, so that it can be shared. It is set on "click", which fires before
// the details open, also for a key; "toggle" fires later, when the browser may already have navigated back.
for (const entry of document.querySelectorAll("details.entry")) {
  entry.querySelector("summary").addEventListener("click", () => {
    if (!entry.open) history.replaceState(null, "", `#${entry.id}`);
  });
}

for (const button of document.querySelectorAll(".command button")) {
  button.hidden = false;
  button.addEventListener("click", () => copyCommand(button));
}

async function copyCommand(button) {
  const command = button.parentElement.querySelector("pre");
  const outcome = (await copyOrSelect(command)) ? "Copied" : "Selected";
  button.textContent = outcome;
  announce(outcome);
  setTimeout(() => (button.textContent = "Copy"), FEEDBACK_MS);
}
