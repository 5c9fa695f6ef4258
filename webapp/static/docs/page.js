// The API's own page: a link to a call opens it, and a command is copied by one key.
import { say } from "../shared/page.js";

function open() {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place?.matches("details.told")) return;
  place.open = true;
  place.scrollIntoView();
  place.querySelector("summary").focus({ preventScroll: true });
}

addEventListener("hashchange", open);
addEventListener("load", open); // not before: the browser goes to the place by itself, and takes the focus away

// The address follows what is read, so that it can be sent to somebody. By the click, which comes before it opens,
// also by a key; "toggle" comes later, when the browser may have gone back already.
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

// Browsers let a page write to the clipboard where it came by https or from this machine. Elsewhere the command is selected.
async function taken(command) {
  try {
    await navigator.clipboard.writeText(command.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(command);
    return false;
  }
}
