// The lease: how much of it is left, more of it while the person works, and what became of it when it
// ran out.
import { local, localise } from "./page.js";

const form = document.getElementById("answer");
const left = document.getElementById("left");
const note = document.getElementById("receipt");
const button = document.getElementById("more");
const draftNote = document.getElementById("draft");
const noMore = document.getElementById("no-more");
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"];
const LOOK_AGAIN = 15000; // ms between two looks at what became of it

// This page's own clock: the server said how long, so a wrong clock here does no harm. One of the two
// stands still while a lid is closed.
const began = [performance.now(), Date.now()];
const now = () => Math.max(performance.now() - began[0], Date.now() - began[1]);

let end, whole, renewals, ticking;
let next = 0; // when the script may ask for more time again

function begin() {
  end = Number(left.dataset.left) * 1000;
  whole = Number(left.dataset.of) * 1000;
  renewals = form.dataset.renewals === "" ? Infinity : Number(form.dataset.renewals);
  for (const sign of SIGNS) document.addEventListener(sign, worked, { passive: true });
  button?.addEventListener("click", (event) => {
    event.preventDefault();
    more();
  });
  ticking = setInterval(show, 1000);
  show();
}

function show() {
  const seconds = Math.max(0, Math.ceil((end - now()) / 1000));
  left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
  left.classList.toggle("soon", seconds <= whole / 5000);
  if (seconds === 0) over();
}

// More time

// Whoever works keeps the item; who went away does not. At most every third of a lease, and where the
// renewals are counted not before the last third, so that they last.
function worked(event) {
  const idle = !event.isTrusted || event.repeat || (event.type === "pointermove" && !event.movementX && !event.movementY);
  const share = renewals === Infinity ? 2 / 3 : 1 / 3;
  if (idle || renewals === 0 || now() < next || now() >= end || end - now() > whole * share) return;
  more();
}

async function more() {
  next = now() + whole / 3;
  const headers = { "Content-Type": "application/json", "X-CSRFToken": form.dataset.csrf };
  const body = JSON.stringify({ token: Number(form.dataset.token) });
  let answer;
  try {
    answer = await fetch(form.dataset.renew, { method: "POST", body, headers });
  } catch {
    next = now() + 5000; // whatever is done next tries again
    draftNote.textContent = "You got no more time: no connection";
    return;
  }
  if (answer.ok) renewed(await answer.json(), Date.parse(answer.headers.get("Date")));
  else if (answer.status === 400) used();
  else if (answer.status === 409) over();
  else draftNote.textContent = "You got no more time: error " + answer.status;
}

function renewed(lease, sent) {
  whole = Date.parse(lease.expires_at) - sent; // both by the server's clock
  end = now() + whole;
  next = now() + whole / 3;
  const time = document.querySelector("#until time");
  time.dateTime = lease.expires_at;
  time.textContent = local(lease.expires_at);
  renewals -= 1;
  if (renewals === 0) used();
  show();
}

function used() {
  renewals = 0;
  noMore.hidden = false;
  if (button) button.hidden = true;
}

// What became of it

function over() {
  if (ticking === null) return;
  clearInterval(ticking);
  ticking = null;
  end = 0;
  left.parentElement.hidden = true;
  if (button) button.hidden = true;
  note.hidden = false;
  look();
}

let told = "";

async function look() {
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch(form.dataset.receipt);
      const text = await answer.text();
      if (answer.ok && text !== told) {
        told = text;
        note.innerHTML = text; // made by our own server, of the same template as the page
        localise(note);
      }
    } catch {
      // no connection: what stands there stays true
    }
  }
  setTimeout(look, LOOK_AGAIN);
}

if (left) begin();
