// Waits for the next item by repeated long polls, while somebody is active.
import { localise } from "../shared/page.js";

const place = document.getElementById("waiting");
const how = document.getElementById("how");
const why = document.getElementById("why");
const buttons = Object.fromEntries(["stop", "wait", "show", "sign-in"].map((id) => [id, document.getElementById(id)]));
const SECONDS = 20; // for a long poll; the server has few slots, and says when to ask again
const LONGEST_PAUSE = 30000; // ms between two attempts to reach the server
const AWAY = 15 * 60000; // ms without activity: an item that arrives then would only expire
const REASON_AGE = 60000; // ms after which the displayed reason is reloaded
const title = document.title;

let waiting = false;
let asking = false;
let pausing = false; // between two polls
let awake = () => {}; // ends a pause early
let lastSign = Date.now();
let reason = place.dataset.reason;
let reasonAt = Date.now();

function tell(state) {
  how.textContent = place.dataset[state];
}

function only(...shown) {
  const had = Object.values(buttons).includes(document.activeElement);
  for (const [id, button] of Object.entries(buttons)) button.hidden = !shown.includes(id);
  if (had) buttons[shown[0]].focus();
}

function begin() {
  waiting = true;
  lastSign = Date.now();
  tell("waiting");
  only("stop");
  awake();
  if (!asking) ask();
}

function end(state, ...shown) {
  waiting = false;
  tell(state);
  only(...shown);
}

// A pending request can't be cancelled: an item it brings belongs to the person.
function stop() {
  end(pausing ? "stopped" : "stopping", "wait");
  awake();
}

// A hidden tab does not poll: its item would expire unseen. One request may still be pending.
async function ask() {
  asking = true;
  let failures = 0;
  while (waiting && document.visibilityState === "visible") {
    if (Date.now() - lastSign > AWAY) {
      end("away", "wait");
      break;
    }
    const answer = await fetchItem();
    if (answer === null || answer.status >= 429) {
      failures += 1;
      if (waiting) tell("offline");
      await pause(Math.max(after(answer), Math.min(1000 * 2 ** failures, LONGEST_PAUSE)));
    } else if (answer.status === 200) {
      arrived();
      break;
    } else if (answer.status === 204) {
      if (waiting && failures) tell("waiting");
      failures = 0;
      await look(answer.headers.get("X-Leaseq-Reason"));
      await pause(after(answer));
    } else {
      refused(answer);
      break;
    }
  }
  asking = false;
  if (how.textContent === place.dataset.stopping) tell("stopped");
}

async function fetchItem() {
  try {
    return await fetch(place.dataset.reserve, {
      method: "POST",
      body: JSON.stringify({ wait: SECONDS }),
      headers: { "Content-Type": "application/json", "X-CSRFToken": place.dataset.csrf },
    });
  } catch {
    return null;
  }
}

const after = (answer) => 1000 * (Number(answer?.headers.get("Retry-After")) || 0);

async function pause(milliseconds) {
  if (!waiting) return;
  pausing = true;
  await new Promise((done) => {
    setTimeout(done, milliseconds);
    awake = done;
  });
  pausing = false;
}

// In a hidden tab the title announces the item; a visible page opens it, even right after "Stop waiting".
function arrived() {
  waiting = false;
  if (document.visibilityState === "visible") location.replace(place.dataset.work);
  else {
    end("here", "show");
    document.title = "● " + place.dataset.hereTitle;
  }
}

function refused(answer) {
  if (answer.status === 401 || answer.status === 403) end("signedOut", "sign-in");
  else location.replace(place.dataset.work); // that page explains the error
}

async function look(now) {
  if (now === reason && Date.now() - reasonAt < REASON_AGE) return;
  [reason, reasonAt] = [now, Date.now()];
  try {
    const answer = await fetch(place.dataset.why);
    if (!answer.ok || answer.redirected) return;
    const text = await answer.text(); // our own template
    if (text !== told) why.innerHTML = told = text;
    localise(why);
  } catch {
    // no connection: the displayed reason stays
  }
}

let told = null;

for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"]) {
  document.addEventListener(sign, () => (lastSign = Date.now()), { passive: true });
}
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return;
  lastSign = Date.now();
  if (document.title !== title) location.replace(place.dataset.work);
  else if (waiting && !asking) ask();
});
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
buttons.stop.addEventListener("click", stop);
buttons.wait.addEventListener("click", begin);

document.getElementById("look").hidden = true;
place.hidden = false;
begin();
