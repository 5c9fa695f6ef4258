// Sends the form and swaps in the response. What can't be sent now is sent again later: the same token makes
// that safe.
import { swap } from "./item-view.js";
import { session } from "../shared/session.js";
import { signIn } from "./sign-in.js";
import * as thread from "./thread.js";
import { drop, isSent, unsent } from "./local-copies.js";

const TIMEOUT_MS = 20_000; // ms for a response
const LASTING = /\/(finish|abandon|fail)$/; // posts that are still wanted after the page was closed
const PAUSES = [1000, 2000, 5000, 10_000, 15_000]; // ms before the next attempt

let busy = false;

export function begin(sheet) {
  const { root, form, signal } = sheet;
  for (const one of root.querySelectorAll("form")) {
    one.addEventListener("submit", (event) => {
      event.preventDefault();
      const body = new URLSearchParams(new FormData(one, event.submitter));
      body.set("active_ms", sheet.active());
      send(sheet, event.submitter?.getAttribute("formaction") ?? one.action, body, one === form);
    }, { signal });
  }
  sendLeftOver(sheet);
}

async function send(sheet, url, body, isAnswer) {
  if (busy || sheet.elsewhere) return;
  busy = true;
  sheet.root.classList.add("busy");
  const hands = document.activeElement;
  sheet.form.inert = true; // input typed now would belong to no item
  tell(sheet, "");
  if (isAnswer && LASTING.test(url)) sheet.keepToSend(url, body);
  else sheet.flush();
  try {
    await untilThere(sheet, url, body, isAnswer);
  } finally {
    busy = false;
    sheet.root.classList.remove("busy");
    sheet.form.inert = false;
    if (hands.isConnected && document.activeElement === document.body) hands.focus();
  }
}

async function untilThere(sheet, url, body, isAnswer) {
  for (let tries = 0, renewed = false; ; tries += 1) {
    const answer = await post(url, body);
    if (answer.kind === "away") {
      const pause = Math.max(PAUSES[Math.min(tries, PAUSES.length - 1)], answer.after);
      if (await waited(sheet, pause, answer.after ? "busy" : "away")) continue;
      return;
    }
    if (answer.kind === "out" || (answer.kind === "forbidden" && !renewed)) {
      renewed = true;
      const known = await session();
      const csrf = known?.person === sheet.person ? known.csrf : await signIn(sheet.person);
      if (csrf === null) return;
      renew(sheet, csrf);
      body.set("csrf_token", csrf);
      continue;
    }
    if (answer.kind === "told") {
      isSent(sheet.what);
      return refused(sheet, answer, isAnswer);
    }
    if (answer.kind === "thread") return thread.sent(answer.html);
    if (isAnswer && answer.status < 400) {
      drop(sheet.what);
      sheet.done?.();
    } else isSent(sheet.what);
    if (answer.kind === "go") location.replace(answer.url);
    else swap(answer.html);
    return;
  }
}

// The result of a post: a fragment or thread to swap in, an address to go to, or the obstacle.
async function post(url, body) {
  const options = { method: "POST", body, headers: { "X-Leaseq-Piece": "yes" }, redirect: "manual" };
  try {
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const html = await answer.text();
    const { status } = answer;
    if (answer.type === "opaqueredirect" || status === 401) return { kind: "out" };
    const after = 1000 * (Number(answer.headers.get("Retry-After")) || 0); // if the server is overloaded
    if (status >= 500 || status === 429) return { kind: "away", after };
    if (status === 403) return { kind: "forbidden", html };
    if (answer.headers.has("X-Leaseq-Go")) return { kind: "go", status, url: answer.headers.get("X-Leaseq-Go") };
    const kind = html.includes('id="sheet"') ? "piece" : html.includes('id="thread-title"') ? "thread" : "told";
    return { kind, status, html };
  } catch {
    return { kind: "away", after: 0 };
  }
}

// True when it is time to try again, false if the person wants to change something first.
function waited(sheet, pause, why) {
  const note = sheet.root.querySelector("#offline");
  const words = note.querySelector("p");
  words.textContent = words.dataset[why];
  note.hidden = false;
  note.scrollIntoView({ block: "nearest" });
  return new Promise((resolve) => {
    const waiting = new AbortController();
    const { signal } = waiting;
    const end = (again) => {
      clearTimeout(timer);
      waiting.abort();
      note.hidden = true;
      resolve(again);
    };
    const timer = setTimeout(end, pause, true);
    window.addEventListener("online", () => end(true), { signal });
    note.querySelector("[data-does=try]").addEventListener("click", () => end(true), { signal });
    note.querySelector("[data-does=change]").addEventListener("click", () => end(false), { signal });
  });
}

function renew(sheet, csrf) {
  for (const input of document.querySelectorAll("input[name=csrf_token]")) input.value = csrf;
}

// The server refused with an error page or plain text.
function refused(sheet, answer, isAnswer) {
  const page = new DOMParser().parseFromString(answer.html, "text/html");
  const main = page.querySelector("main") ?? page.body;
  const words = [...main.querySelectorAll("h1 ~ p:not(:has(> a))")].map((place) => place.textContent.trim());
  tell(sheet, words.filter(Boolean).join(" ") || main.textContent.trim());
  if (!isAnswer) document.getElementById("saved")?.remove();
}

function tell(sheet, words) {
  sheet.root.querySelector("#trouble").textContent = words;
}

// Sends answers to other items, given while the server was unreachable and before this page was closed.
async function sendLeftOver(sheet) {
  for (const [what, { send: left }] of unsent(sheet.person)) {
    if (what === sheet.what) continue;
    const body = new URLSearchParams(left.body);
    body.set("then", "stop");
    body.set("csrf_token", sheet.form.elements.csrf_token.value);
    const answer = await post(left.url, body);
    if (!["go", "piece"].includes(answer.kind)) continue;
    if (answer.status === 422) {
      isSent(what);
      continue;
    }
    drop(what);
    sheet.root.querySelector("#left-over").hidden = false;
  }
}
