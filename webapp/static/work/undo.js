// Offers to undo what was just saved, while the page counts down.
import { areOff } from "../shared/shortcuts-switch.js";
import { every } from "./item-view.js";

export function begin({ signal }) {
  const place = document.getElementById("saved");
  if (!place) return;
  const left = place.querySelector("#undo-left");
  const end = performance.now() + Number(place.dataset.seconds) * 1000;
  const show = () => {
    const seconds = Math.ceil((end - performance.now()) / 1000);
    left.textContent = left.dataset.text.replace("{}", seconds);
    if (seconds <= 0) empty(place);
  };
  every(signal, 250, show);
  show();
}

// Nothing moves for the reader: notices overlay the item, and elsewhere the space stays.
function empty(place) {
  place.inert = true;
  if (place.closest(".notices")) place.hidden = true;
  place.style.visibility = "hidden";
}

// Pages without an item view start the undo here.
if (!document.getElementById("sheet") && document.getElementById("saved")) {
  begin({ signal: new AbortController().signal });
  document.addEventListener("keydown", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.matches("input, textarea, select");
    if (event.key.toLowerCase() === "u" && plain && !areOff()) {
      document.querySelector("#saved button")?.click();
    }
  });
}
