// The API page: a link to a call opens its details, and buttons copy commands.
import { say } from "../shared/page.js";

function open() {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place?.matches("details.told")) return;
  place.open = true;
  place.scrollIntoView();
  place.querySelector("summary").focus({ preventScroll: true });
}

addEventListener("hashchange", open);
addEventListener("load", open); // not earlier: the browser's own jump to the fragment would take the focus away

// The address names the call that was opened last, so that it can be shared. It is set on "click", which fires before
// the details open, also for a key; "toggle" fires later, when the browser may already have navigated back.
for (const one of document.querySelectorAll("details.told")) {
  one.querySelector("summary").addEventListener("click", () => {
    if (!one.open) history.replaceState(null, "", `#${one.id}`);
  });
}

for (const button of document.querySelectorAll(".command button")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}

async function copy(button) {
  const command = button.parentElement.querySelector("pre");
  const outcome = (await taken(command)) ? "Copied" : "Selected";
  button.textContent = outcome;
  say(outcome);
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

// Browsers allow clipboard access only for https and localhost pages. Elsewhere the command is selected.
async function taken(command) {
  try {
    await navigator.clipboard.writeText(command.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(command);
    return false;
  }
}
