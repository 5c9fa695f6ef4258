// Waits for the next item by repeated long polls, while somebody is active.
import { fetchFragment, parseFragment } from "../shared/page.js";

const panel = document.getElementById("waiting");
const status = document.getElementById("wait-status");
const reasonText = document.getElementById("reason");
const buttons = Object.fromEntries(["stop", "wait", "show", "sign-in"].map((id) => [id, document.getElementById(id)]));
const POLL_SECONDS = 20; // for a long poll; the server has few slots, and says when to ask again
const MAX_RETRY_MS = 30_000; // between two attempts to reach the server
const IDLE_MS = 15 * 60_000; // without activity: an item that arrives then would only expire
const REASON_AGE_MS = 60_000; // after which the displayed reason is reloaded
const ACTIVITY_EVENTS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"];
const title = document.title;

let isWaiting = false;
let isPolling = false;
let isPausing = false; // between two polls
let endPause = () => {};
let activeAt = Date.now();
let reason = panel.dataset.reason;
let reasonAt = Date.now();
let reasonHtml = null;

function showStatus(state) {
  status.textContent = panel.dataset[state];
}

function showButtons(...ids) {
  const hadFocus = Object.values(buttons).includes(document.activeElement);
  for (const [id, button] of Object.entries(buttons)) button.hidden = !ids.includes(id);
  if (hadFocus) buttons[ids[0]].focus();
}

function begin() {
  isWaiting = true;
  activeAt = Date.now();
  showStatus("waiting");
  showButtons("stop");
  endPause();
  if (!isPolling) poll();
}

function end(state, ...buttonIds) {
  isWaiting = false;
  showStatus(state);
  showButtons(...buttonIds);
}

// A pending request can't be cancelled: an item it brings belongs to the person.
function stop() {
  end(isPausing ? "stopped" : "stopping", "wait");
  endPause();
}

// A hidden tab does not poll: its item would expire unseen. One request may still be pending.
async function poll() {
  isPolling = true;
  let failures = 0;
  while (isWaiting && document.visibilityState === "visible") {
    if (Date.now() - activeAt > IDLE_MS) {
      end("idle", "wait");
      break;
    }
    const response = await requestItem();
    if (response === null || response.status >= 429) {
      failures += 1;
      if (isWaiting) showStatus("offline");
      await pause(Math.max(retryAfterMs(response), Math.min(1000 * 2 ** failures, MAX_RETRY_MS)));
    } else if (response.status === 200) {
      showItem();
      break;
    } else if (response.status === 204) {
      if (isWaiting && failures) showStatus("waiting");
      failures = 0;
      await updateReason(response.headers.get("X-Leaseq-Reason"));
      await pause(retryAfterMs(response));
    } else {
      handleRefusal(response);
      break;
    }
  }
  isPolling = false;
  if (status.textContent === panel.dataset.stopping) showStatus("stopped");
}

async function requestItem() {
  try {
    return await fetch(panel.dataset.reserveUrl, {
      method: "POST",
      body: JSON.stringify({ wait: POLL_SECONDS }),
      headers: { "Content-Type": "application/json", "X-CSRFToken": panel.dataset.csrf },
    });
  } catch {
    return null;
  }
}

const retryAfterMs = (response) => 1000 * (Number(response?.headers.get("Retry-After")) || 0);

async function pause(ms) {
  if (!isWaiting) return;
  isPausing = true;
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
    endPause = resolve;
  });
  isPausing = false;
}

// In a hidden tab the title announces the item; a visible page opens it, even right after "Stop waiting".
function showItem() {
  isWaiting = false;
  if (document.visibilityState === "visible") location.replace(panel.dataset.workUrl);
  else {
    end("ready", "show");
    document.title = "● " + panel.dataset.readyTitle;
  }
}

function handleRefusal(response) {
  if (response.status === 401 || response.status === 403) end("signedOut", "sign-in");
  else location.replace(panel.dataset.workUrl); // that page explains the error
}

async function updateReason(newReason) {
  if (newReason === reason && Date.now() - reasonAt < REASON_AGE_MS) return;
  [reason, reasonAt] = [newReason, Date.now()];
  const html = await fetchFragment(panel.dataset.reasonUrl);
  if (html === null || html === reasonHtml) return;
  reasonHtml = html;
  reasonText.replaceChildren(parseFragment(html));
}

for (const type of ACTIVITY_EVENTS) {
  document.addEventListener(type, () => (activeAt = Date.now()), { passive: true });
}
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return;
  activeAt = Date.now();
  if (document.title !== title) location.replace(panel.dataset.workUrl);
  else if (isWaiting && !isPolling) poll();
});
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
buttons.stop.addEventListener("click", stop);
buttons.wait.addEventListener("click", begin);

document.getElementById("check").hidden = true;
panel.hidden = false;
begin();
