// Shows what others do while the person works: a manager releases or removes the item, answers, or pauses the queue.
// It comes over an event stream, which hidden pages close.
import { look as lookAtThread } from "./thread.js";

const AGAIN = 2000; // ms before the next attempt after a lost connection
const REFUSED = 30_000; // ms if the server refused the stream
const LEAVING = 60_000; // ms after which a hidden page closes its stream

let sheet = null;
let source = null;
let retry = null;
let leaving = null;
let paused = null; // the reason, or null

export function begin(next) {
  const isFirst = sheet === null;
  sheet = next;
  show();
  if (!isFirst) return;
  connect();
  document.addEventListener("visibilitychange", look);
}

function connect() {
  clearTimeout(retry);
  retry = null;
  if (source || document.visibilityState !== "visible") return;
  const { root, form } = sheet;
  const stream = new EventSource(`${root.dataset.live}?token=${form.dataset.token}`);
  source = stream;
  stream.addEventListener("ended", (event) => {
    if (JSON.parse(event.data).includes(Number(sheet.form.dataset.token))) sheet.over?.();
  });
  stream.addEventListener("answered", (event) => {
    if (JSON.parse(event.data).includes(sheet.id)) lookAtThread();
  });
  stream.addEventListener("open", lookAtThread);
  stream.addEventListener("paused", (event) => {
    paused = JSON.parse(event.data);
    show();
  });
  // The browser would reconnect by itself, but with the token of an item that may be done.
  stream.addEventListener("error", () => {
    const pause = stream.readyState === EventSource.CLOSED ? REFUSED : AGAIN;
    stream.close();
    if (source === stream) source = null;
    retry ??= setTimeout(connect, pause * (0.5 + Math.random()));
  });
}

function show() {
  const note = sheet.root.querySelector("#paused");
  const words = paused === null ? "" : paused ? note.dataset.why.replace("{why}", () => paused) : note.dataset.plain;
  if (note.textContent !== words) note.textContent = words;
  note.hidden = !words;
}

function look() {
  clearTimeout(leaving);
  if (document.visibilityState === "visible") connect();
  else
    leaving = setTimeout(() => {
      source?.close();
      source = null;
    }, LEAVING);
}
