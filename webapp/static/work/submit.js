// Sends the form and swaps in the response. What can't be sent now is sent again later: the same token makes
// that safe.
import { replaceItemView } from "./item-view.js";
import { requestSession } from "../shared/session.js";
import { signIn } from "./sign-in.js";
import { replaceThread } from "./thread.js";
import { cancelResend, deleteCopy, findUnsent } from "./local-copies.js";

const TIMEOUT_MS = 20_000; // for a response
const RESENT_URLS = /\/(finish|abandon|fail)$/; // of posts that are still wanted after the page was closed
const SAVING_MS = 150;
const RETRY_DELAYS_MS = [1000, 2000, 5000, 10_000, 15_000];

let isBusy = false;

export function begin(view) {
  const { root, form, signal } = view;
  for (const pageForm of root.querySelectorAll("form")) {
    pageForm.addEventListener("submit", (event) => {
      event.preventDefault();
      const body = new URLSearchParams(new FormData(pageForm, event.submitter));
      body.set("active_ms", view.measureActiveMs());
      submit(view, event.submitter?.getAttribute("formaction") ?? pageForm.action, body, pageForm === form, event.submitter);
    }, { signal });
  }
  resendUnsent(view);
}

// `isAnswer`: the post is the answer form's, which the person sees until the server has it.
async function submit(view, url, body, isAnswer, button) {
  if (isBusy || view.isOpenElsewhere) return;
  isBusy = true;
  const focused = document.activeElement;
  view.form.inert = true; // input typed now would belong to no item
  showError(view, "");
  if (isAnswer && RESENT_URLS.test(url)) view.storeForSending(url, body);
  else view.saveDraftNow();
  const endSaving = showSaving(view, button);
  try {
    await postWithRetries(view, url, body, isAnswer);
  } finally {
    isBusy = false;
    endSaving();
    view.form.inert = false;
    if (focused.isConnected && document.activeElement === document.body) focused.focus();
  }
}

// Says in the page and in the button that it takes a while; returns what ends that. A fast answer changes nothing:
// that would flicker, and delay the next item by a frame.
function showSaving(view, button) {
  const content = [...(button?.childNodes ?? [])];
  const timer = setTimeout(() => {
    view.root.classList.add("busy");
    const { saving } = view.root.dataset;
    document.getElementById("announcements").textContent = saving;
    if (!button) return;
    button.style.minWidth = `${button.offsetWidth}px`;
    button.classList.add("saving");
    button.replaceChildren(saving);
  }, SAVING_MS);
  return () => {
    clearTimeout(timer);
    view.root.classList.remove("busy");
    if (!button?.classList.contains("saving")) return;
    button.classList.remove("saving");
    button.style.minWidth = "";
    button.replaceChildren(...content);
  };
}

// Posts until the server responds, or the person wants to change something first; then shows the response.
async function postWithRetries(view, url, body, isAnswer) {
  for (let attempt = 0, isRenewed = false; ; attempt += 1) {
    const result = await post(url, body);
    if (result.kind === "unavailable") {
      const delayMs = Math.max(RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length - 1)], result.retryAfterMs);
      if (await waitForRetry(view, delayMs, result.retryAfterMs ? "overloaded" : "unavailable")) continue;
      return;
    }
    if (result.kind === "signed-out" || (result.kind === "forbidden" && !isRenewed)) {
      isRenewed = true;
      const { session, problem } = await requestSession();
      if (problem === "disabled" && result.kind === "forbidden") {
        cancelResend(view.key);
        return showRefusal(view, result.html, isAnswer);
      }
      const csrfToken = session?.person === view.person ? session.csrf : await signIn(view.person);
      if (csrfToken === null) return;
      setCsrfToken(csrfToken);
      body.set("csrf_token", csrfToken);
      continue;
    }
    if (result.kind === "message") {
      cancelResend(view.key);
      return showRefusal(view, result.html, isAnswer);
    }
    if (result.kind === "thread") return replaceThread(result.html);
    if (isAnswer && result.status < 400) {
      deleteCopy(view.key);
      view.announceSubmission?.();
    } else cancelResend(view.key);
    if (result.kind === "redirect") location.replace(result.url);
    else replaceItemView(result.html);
    return;
  }
}

// The result of a post: a fragment or thread to swap in, a URL to go to, or what prevented it.
async function post(url, body) {
  const options = { method: "POST", body, headers: { "X-Leaseq-Fragment": "yes" }, redirect: "manual" };
  try {
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const html = await response.text();
    const { status, headers } = response;
    if (response.type === "opaqueredirect" || status === 401) return { kind: "signed-out" };
    const retryAfterMs = 1000 * (Number(headers.get("Retry-After")) || 0); // if the server is overloaded
    if (status >= 500 || status === 429) return { kind: "unavailable", retryAfterMs };
    if (status === 403) return { kind: "forbidden", html };
    if (headers.has("X-Leaseq-Redirect")) return { kind: "redirect", status, url: headers.get("X-Leaseq-Redirect") };
    const kind = html.includes('id="item-view"') ? "fragment" : html.includes('id="thread-title"') ? "thread" : "message";
    return { kind, status, html };
  } catch {
    return { kind: "unavailable", retryAfterMs: 0 };
  }
}

// True when it is time to try again, false if the person wants to change something first.
function waitForRetry(view, delayMs, reason) {
  const note = view.root.querySelector("#offline");
  const text = note.querySelector("p");
  text.textContent = text.dataset[reason];
  note.hidden = false;
  note.scrollIntoView({ block: "nearest" });
  return new Promise((resolve) => {
    const controller = new AbortController();
    const { signal } = controller;
    const end = (again) => {
      clearTimeout(timer);
      controller.abort();
      note.hidden = true;
      resolve(again);
    };
    const timer = setTimeout(end, delayMs, true);
    window.addEventListener("online", () => end(true), { signal });
    note.querySelector("[data-action=retry]").addEventListener("click", () => end(true), { signal });
    note.querySelector("[data-action=edit]").addEventListener("click", () => end(false), { signal });
  });
}

function setCsrfToken(csrfToken) {
  for (const input of document.querySelectorAll("input[name=csrf_token]")) input.value = csrfToken;
}

// The server refused with an error page or plain text.
function showRefusal(view, html, isAnswer) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const main = page.querySelector("main") ?? page.body;
  const texts = [...main.querySelectorAll("h1 ~ p:not(:has(> a))")].map((paragraph) => paragraph.textContent.trim());
  showError(view, texts.filter(Boolean).join(" ") || main.textContent.trim());
  if (!isAnswer) document.getElementById("undo")?.remove();
}

function showError(view, text) {
  view.root.querySelector("#submit-error").textContent = text;
}

// Sends answers to other items, given while the server was unreachable and before this page was closed.
async function resendUnsent(view) {
  for (const [key, { unsentPost }] of findUnsent(view.person)) {
    if (key === view.key) continue;
    const body = new URLSearchParams(unsentPost.body);
    body.set("then", "stop");
    body.set("csrf_token", view.form.elements.csrf_token.value);
    const result = await post(unsentPost.url, body);
    if (!["redirect", "fragment"].includes(result.kind)) continue;
    if (result.status === 422) {
      cancelResend(key);
      continue;
    }
    deleteCopy(key);
    view.root.querySelector("#resent-answer").hidden = false;
  }
}
