// Runs a bulk action on all items of a search, step by step, until the list ends or the person stops it.
import { SignedOut, post } from "../shared/session.js";

const outcome = document.getElementById("outcome");
const stop = document.getElementById("stop");
const failed = document.getElementById("failed");
const out = document.getElementById("out");
const refused = document.getElementById("refused");
let stopped = false;

const form = () => document.getElementById("go-on");

// The next target of the focus: the button for the next step, else the link back to the list.
const onward = () => form()?.querySelector("button") ?? document.querySelector("main > p:last-of-type a");

stop.addEventListener("click", () => {
  stopped = true;
  hideStop();
});

function hideStop() {
  const had = document.activeElement === stop;
  stop.hidden = true;
  if (had) onward().focus();
}

document.addEventListener("submit", (event) => {
  if (event.target !== form()) return;
  event.preventDefault();
  goOn();
});

async function goOn() {
  stopped = false;
  failed.hidden = out.hidden = true;
  while (form() && !stopped) {
    stop.hidden = false;
    try {
      const answer = await post(form().action, () => new URLSearchParams(new FormData(form())));
      if (!answer.ok) throw new Error(answer.status);
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch (error) {
      (error instanceof SignedOut ? out : failed).hidden = false;
      break;
    }
  }
  hideStop();
}

function show(page) {
  const had = outcome.contains(document.activeElement);
  outcome.replaceChildren(...page.getElementById("outcome").children);
  if (had) onward().focus();
  const more = page.querySelectorAll("#refused li");
  refused.querySelector("ul").append(...more);
  refused.hidden &&= more.length === 0;
}

goOn();
