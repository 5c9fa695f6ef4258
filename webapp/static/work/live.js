// Shows what others do while the person works: a manager releases or removes the item, answers, announces something,
// or pauses the queue.
// It comes over an event stream, which hidden pages close.
import { whileVisible } from "../shared/page.js";
import { showAnnouncement } from "./announcement.js";
import { refreshThread } from "./thread.js";

const RECONNECT_MS = 2000; // after a lost connection
const REFUSED_RECONNECT_MS = 30_000; // if the server refused the stream

let view = null;
let source = null;
let reconnectTimer = null;
let pauseReason = null; // null: the queue is not paused

export function begin(nextView) {
  const isFirst = view === null;
  view = nextView;
  showPause();
  if (!isFirst) return;
  whileVisible(connect, () => {
    source?.close();
    source = null;
  });
}

function connect() {
  clearTimeout(reconnectTimer);
  reconnectTimer = null;
  if (source || document.visibilityState !== "visible") return;
  const { root, form } = view;
  const stream = new EventSource(`${root.dataset.liveUrl}?token=${form.dataset.token}`);
  source = stream;
  stream.addEventListener("ended", (event) => {
    if (JSON.parse(event.data).includes(Number(view.form.dataset.token))) view.endLease?.();
  });
  stream.addEventListener("answered", (event) => {
    if (JSON.parse(event.data).includes(view.id)) refreshThread();
  });
  stream.addEventListener("open", refreshThread);
  stream.addEventListener("paused", (event) => {
    pauseReason = JSON.parse(event.data);
    showPause();
  });
  stream.addEventListener("announcement", (event) => showAnnouncement(JSON.parse(event.data)));
  // The browser would reconnect by itself, but with the token of an item that may be done.
  stream.addEventListener("error", () => {
    const delayMs = stream.readyState === EventSource.CLOSED ? REFUSED_RECONNECT_MS : RECONNECT_MS;
    stream.close();
    if (source === stream) source = null;
    reconnectTimer ??= setTimeout(connect, delayMs * (0.5 + Math.random()));
  });
}

function showPause() {
  const note = view.root.querySelector("#paused");
  const text = pauseReason === null ? "" : pauseReason ? note.dataset.withReason.replace("{why}", () => pauseReason) : note.dataset.withoutReason;
  if (note.textContent !== text) note.textContent = text;
  note.hidden = !text;
}
