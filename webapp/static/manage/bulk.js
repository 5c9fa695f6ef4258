// Runs a bulk action on all items of a search, step by step, until the list ends or the person stops it.
import { SignedOutError, post } from "../shared/session.js";

const outcome = document.getElementById("outcome");
const stopButton = document.getElementById("stop");
const failedMessage = document.getElementById("step-failed");
const signedOutMessage = document.getElementById("signed-out");
const refusals = document.getElementById("refusals");
let isStopped = false;

// The form for the next step; each response replaces it, the last one by nothing.
const nextForm = () => document.getElementById("next-step");

// Moves the focus to the button for the next step, else to the link back to the list.
function focusNext() {
  (nextForm()?.querySelector("button") ?? document.querySelector("main > p:last-of-type a")).focus();
}

stopButton.addEventListener("click", () => {
  isStopped = true;
  hideStopButton();
});

function hideStopButton() {
  const hadFocus = document.activeElement === stopButton;
  stopButton.hidden = true;
  if (hadFocus) focusNext();
}

document.addEventListener("submit", (event) => {
  if (event.target !== nextForm()) return;
  event.preventDefault();
  runSteps();
});

async function runSteps() {
  isStopped = false;
  failedMessage.hidden = signedOutMessage.hidden = true;
  while (nextForm() && !isStopped) {
    stopButton.hidden = false;
    try {
      const response = await post(nextForm().action, () => new URLSearchParams(new FormData(nextForm())));
      if (!response.ok) throw new Error(response.status);
      showOutcome(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch (error) {
      (error instanceof SignedOutError ? signedOutMessage : failedMessage).hidden = false;
      break;
    }
  }
  hideStopButton();
}

function showOutcome(page) {
  const hadFocus = outcome.contains(document.activeElement);
  outcome.replaceChildren(...page.getElementById("outcome").children);
  if (hadFocus) focusNext();
  const newRefusals = page.querySelectorAll("#refusals li");
  refusals.querySelector("ul").append(...newRefusals);
  refusals.hidden &&= newRefusals.length === 0;
}

runSteps();
