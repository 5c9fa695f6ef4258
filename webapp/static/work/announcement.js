// Shows a queue's announcement when it comes, tells the server once that it was seen, and dismisses it.
import { whileVisible } from "../shared/page.js";

const RECONNECT_MS = 30_000; // on a page without an item, if the server refused the stream
const forms = [...document.querySelectorAll("[data-announcement]")];
const liveForm = forms.find((form) => "liveUrl" in form.dataset);

function respond(form, response) {
  const body = new URLSearchParams({ ...Object.fromEntries(new FormData(form)), response });
  return fetch(form.action, { method: "POST", body, headers: { "X-Leaseq-Fragment": "yes" } });
}

// It was seen if the page is visible; the server is told once for each text.
async function noteSeen(form) {
  const id = form.elements.id.value;
  if (form.hidden || form.dataset.known === id || document.visibilityState !== "visible") return;
  form.dataset.known = id;
  try {
    await respond(form, "seen");
  } catch {
    delete form.dataset.known; // no connection: when the page is visible next
  }
}

// `announcement`: null, or its id and text.
export function showAnnouncement(announcement) {
  if (!liveForm) return;
  const { id = "", text = "" } = announcement ?? {};
  const line = liveForm.querySelector("p");
  if (liveForm.elements.id.value !== id) {
    liveForm.elements.id.value = id;
    line.textContent = text;
  }
  liveForm.hidden = !id || liveForm.dataset.dismissed === id;
  noteSeen(liveForm);
}

for (const form of forms) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    form.dataset.dismissed = form.dataset.known = form.elements.id.value;
    form.hidden = true;
    document.getElementById("main").focus();
    respond(form, "dismissed").catch(() => {}); // it is shown again when the page is loaded next
  });
}
whileVisible(
  () => forms.forEach(noteSeen),
  () => {},
);

// With an item, the page's own stream brings it.
let source = null;
let reconnectTimer = null;
function connect() {
  clearTimeout(reconnectTimer);
  if (source?.readyState < EventSource.CLOSED) return;
  source = new EventSource(liveForm.dataset.liveUrl);
  source.addEventListener("announcement", (event) => showAnnouncement(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) reconnectTimer = setTimeout(connect, RECONNECT_MS);
  });
}

if (liveForm && !document.getElementById("item-view")) {
  whileVisible(connect, () => source?.close());
}
