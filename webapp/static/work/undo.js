// Offers to undo what was just saved, while the page counts down.
import { isKey } from "../shared/keys.js";
import { areSingleKeysOff } from "../shared/shortcuts-switch.js";
import { repeat } from "./item-view.js";

const UPDATE_MS = 250;

export function begin({ signal }) {
  const form = document.getElementById("undo");
  if (!form) return;
  const countdown = form.querySelector("#undo-countdown");
  const endsAt = performance.now() + Number(form.dataset.seconds) * 1000;
  const showCountdown = () => {
    const seconds = Math.ceil((endsAt - performance.now()) / 1000);
    countdown.textContent = countdown.dataset.text.replace("{}", seconds);
    if (seconds <= 0) hide(form);
  };
  repeat(signal, UPDATE_MS, showCountdown);
  showCountdown();
}

// Nothing moves for the reader: notices overlay the item, and elsewhere the space stays.
function hide(form) {
  form.inert = true;
  if (form.closest(".notices")) form.hidden = true;
  form.style.visibility = "hidden";
}

// Pages without an item view start the undo here.
if (!document.getElementById("item-view") && document.getElementById("undo")) {
  begin({ signal: new AbortController().signal });
  document.addEventListener("keydown", (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.matches("input, textarea, select");
    if (isKey(event, "u") && isPlain && !areSingleKeysOff()) {
      document.querySelector("#undo button")?.click();
    }
  });
}
