// Keeps a manager's page up to date. The data-… attributes of an element name the figure it shows. An element with
// the focus is never moved or removed, and only new problems are announced to screen readers.
import { announce, formatTime, pathSegment, whileVisible } from "../shared/page.js";
import { renewCsrfTokens } from "../shared/session.js";

const root = document.querySelector("[data-live]");
const texts = root?.dataset;
const language = document.documentElement.lang;
const wholeFormat = new Intl.NumberFormat(language);
const tenthsFormat = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
const pluralRules = new Intl.PluralRules(language);
const POLL_MS = 5000; // without a stream
const RECONNECT_MS = 30000; // between two attempts to open a stream
const ANNOUNCE_MS = 60000; // between two announcements
let clockOffset = 0; // ms that the server's clock is ahead of this one
let updatedAt = new Date();
let figures = null;

const getValue = (data, path) => path.split(".").reduce((part, name) => part?.[name], data);
const setText = (element, text) => element.textContent !== text && (element.textContent = text);
const serverNow = () => Date.now() + clockOffset;
const capitalize = (word) => word.slice(0, 1).toUpperCase() + word.slice(1);

// A duration in its two largest units, formatted as on the server.
function formatDuration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  let remaining = Math.max(Math.floor(seconds), 0);
  const parts = [];
  texts.units.split(" ").forEach((unit, index, units) => {
    const size = [86400, 3600, 60, 1][index];
    const count = Math.floor(remaining / size);
    remaining -= count * size;
    if (count || parts.length || index === units.length - 1) parts.push([count, unit]);
  });
  return parts
    .slice(0, 2)
    .filter(([count], _, shown) => count || shown.length === 1)
    .map(([count, unit]) => `${wholeFormat.format(count)} ${unit}`)
    .join(" ");
}

// A measured duration; below ten seconds with tenths.
function formatMeasured(seconds) {
  const isShort = seconds !== null && seconds !== undefined && seconds < 9.95;
  return isShort ? `${tenthsFormat.format(Math.max(seconds, 0))} ${texts.units.split(" ")[3]}` : formatDuration(seconds);
}

// An alert in words, or its rule if this page has no words for it (the server is newer).
function formatAlert(alert) {
  const text = texts["alert" + capitalize(alert.name)] ?? alert.key;
  const format = ["waiting", "unreachable"].includes(alert.name) ? wholeFormat.format : formatDuration;
  return text.replace("%(limit)s", format(alert.limit));
}

function setNumber(element, value) {
  setText(element, value === null || value === undefined ? "–" : wholeFormat.format(value));
  element.toggleAttribute("data-zero", value === 0);
}

function setValueText(element, value) {
  const isEmpty = value === null || value === undefined || value === "";
  setText(element, isEmpty ? (element.dataset.empty ?? "") : (element.dataset.before ?? "") + value);
}

function setTime(element, time) {
  if (!time || element.dateTime === time) return;
  element.dateTime = time;
  element.title = time;
  setText(element, formatTime(time));
}

// Updates every element in `container` that shows a value of `data`, except within rows, which have their own data.
function render(container, data) {
  const row = container.dataset?.key === undefined ? null : container;
  const update = (name, change) => {
    for (const element of container.querySelectorAll(`[data-${name}]`)) {
      if (element.closest("[data-key]") === row) change(element, getValue(data, element.getAttribute(`data-${name}`)));
    }
  };
  update("number", setNumber);
  update("text", setValueText);
  update("plural", (element, count) => {
    setText(element, pluralRules.select(count ?? 0) === "one" ? element.dataset.one : element.dataset.many);
  });
  update("duration", (element, seconds) => setText(element, formatMeasured(seconds)));
  update("ago", (element, time) => (element.dataset.at = time ?? ""));
  update("remaining", (element, time) => (element.dataset.until = time ?? ""));
  update("progress", (element, seconds) => {
    element.max = seconds || 1;
    element.dataset.until = data.until ?? "";
  });
  update("time", setTime);
  update("path", (element, path) => element.setAttribute("d", path ?? ""));
  update("reason", (element) => setText(element, data.error || (texts["reason" + capitalize(data.how)] ?? data.how)));
  update("translate", (element, value) => {
    setText(element, texts[element.dataset.translate + capitalize(value ?? "")] ?? "");
  });
  update("format", (element, value) => setText(element, element.dataset.template.replace(/%\(\w+\)s/, () => value)));
  update("value", (element, value) => (element.value = value));
  update("unreachable", (element) => {
    const number = pluralRules.select(data.count ?? 0) === "one" ? "One" : "Many";
    const text = texts["unreachable" + capitalize(data.why ?? "") + number] ?? "";
    setText(element, text.replace("%(whom)s", () => data.whom));
  });
  update("alert", (element) => setText(element, formatAlert(data)));
  update("href", (element) => setLink(element, data));
  update("visible-if", (element, value) => setHidden(element, !hasValue(value)));
  update("hidden-if", (element, value) => setHidden(element, hasValue(value)));
}

function hasValue(value) {
  return Array.isArray(value) ? value.length > 0 : ![null, undefined, 0, false].includes(value); // "" is a pause's
}

function isInUse(element) {
  const isPinned = element.matches("[data-pinned]") || element.querySelector("[data-pinned], details[open], td :checked") !== null;
  return isPinned || element.contains(document.activeElement);
}

function setHidden(element, hidden) {
  if (element.hidden !== hidden && !(hidden && isInUse(element))) element.hidden = hidden;
}

function setLink(element, row) {
  let url;
  if (element.dataset.href === "dead") {
    const search = new URLSearchParams({ outcome: row.how, ...(row.error ? { text: row.error } : {}) });
    url = `${texts.dead}&${search}`;
  } else if (element.dataset.href === "search") {
    url = `${texts.search}?${row.search}`;
  } else {
    const parts = { ITEM: row.id, QUEUE: row.queue, NAME: row.name };
    url = texts[element.dataset.href].replace(/ITEM|QUEUE|NAME/g, (part) => pathSegment(parts[part]));
  }
  const attribute = element.tagName === "FORM" ? "action" : "href";
  if (element.getAttribute(attribute) !== url) element.setAttribute(attribute, url);
}

// Updates the rows of a list; rows that remain are changed in place.
function renderRows(list, rows) {
  const template = document.getElementById(`row-${list.dataset.rows}`);
  const oldElements = new Map([...list.children].map((element) => [element.dataset.key, element]));
  rows.forEach((row, index) => {
    let element = oldElements.get(row.key);
    oldElements.delete(row.key);
    if (!element) {
      element = template.content.firstElementChild.cloneNode(true);
      element.dataset.key = row.key;
    }
    element.classList.remove("removed");
    render(element, row);
    const current = list.children[index];
    if (current !== element && !isInUse(element)) list.insertBefore(element, current ?? null);
    else if (!element.isConnected) list.append(element);
  });
  for (const element of oldElements.values()) {
    if (isInUse(element)) element.classList.add("removed");
    else element.remove();
  }
}

function updateClocks() {
  for (const element of root.querySelectorAll("[data-ago]")) {
    const { at } = element.dataset;
    if (at !== undefined) setText(element, at ? formatDuration((serverNow() - Date.parse(at)) / 1000) : "–");
  }
  for (const element of root.querySelectorAll("[data-remaining]")) {
    const { until } = element.dataset;
    const seconds = (Date.parse(until) - serverNow()) / 1000;
    setText(element, seconds > 0 ? formatDuration(seconds) : until ? texts.expired : "–");
  }
  for (const bar of root.querySelectorAll("[data-progress]")) {
    bar.value = Math.max((Date.parse(bar.dataset.until) - serverNow()) / 1000, 0) || 0;
    bar.classList.toggle("warning", bar.value <= bar.max / 5);
  }
}

// Announces only new problems, at most once a minute.
let announcedAt = 0;
function announceProblems(before, after) {
  if (!before?.counts || !after.counts || Date.now() - announcedAt < ANNOUNCE_MS) return;
  const newAlerts = after.alerts.filter((alert) => !before.alerts.some((known) => known.key === alert.key));
  const hasGrown = after.counts.dead > before.counts.dead || after.overdue > before.overdue;
  if (!hasGrown && !newAlerts.length) return;
  announcedAt = Date.now();
  const counts = texts.problems
    .replace("%(dead)s", wholeFormat.format(after.counts.dead))
    .replace("%(overdue)s", wholeFormat.format(after.overdue));
  announce([...newAlerts.map(formatAlert), ...(hasGrown ? [counts] : [])].join(" "));
}

function showFigures(data) {
  clockOffset = Date.parse(data.now) - Date.now();
  updatedAt = new Date();
  if (data.queues) {
    for (const row of root.querySelectorAll("[data-queue]")) {
      const queue = data.queues[row.dataset.queue];
      if (queue) render(row, queue);
    }
  } else {
    render(root, data);
    for (const list of root.querySelectorAll("[data-rows]")) renderRows(list, data[list.dataset.rows]);
    announceProblems(figures, data);
  }
  figures = data;
  showConnection(true);
  updateClocks();
}

const connectionState = document.querySelector("[data-connection-state]");
const signInLink = document.querySelector("[data-sign-in]");

let isOnline = true;
let areTokensOld = false; // the forms' CSRF tokens: the server refuses those from before a new sign-in
let isRenewing = false;
function showConnection(isConnected, isSignedOut = false) {
  isOnline = isConnected;
  areTokensOld ||= !isConnected;
  if (isConnected && (areTokensOld || isRenewing)) return renewTokens();
  const text = isConnected ? texts.connected : isSignedOut ? texts.signedOut : texts.disconnected;
  const message = text.replace("%(time)s", formatTime(updatedAt));
  if (isSignedOut && signInLink.hidden) announce(message);
  setText(connectionState, message);
  if (signInLink.hidden === isSignedOut) signInLink.hidden = !isSignedOut;
}

// The page is shown as connected when its forms can be sent again.
async function renewTokens() {
  if (isRenewing) return;
  isRenewing = true;
  areTokensOld = false;
  await renewCsrfTokens();
  isRenewing = false;
  if (isOnline) showConnection(true);
}

async function fetchFigures() {
  const response = await fetch(texts.live, { headers: { Accept: "application/json" }, redirect: "manual" });
  if (response.type === "opaqueredirect") showConnection(false, true); // redirected to the sign-in page
  else if (!response.ok) throw new Error(response.status);
  else showFigures(await response.json());
}

// Without a stream, the page polls, with jitter so that pages don't poll simultaneously.
let pollTimer = null;
async function poll() {
  pollTimer = null;
  if (document.visibilityState === "visible") {
    try {
      await fetchFigures();
    } catch {
      showConnection(false);
    }
  }
  if (source?.readyState !== EventSource.OPEN) schedulePoll();
}

const addJitter = (ms) => ms * (0.8 + 0.4 * Math.random());

function schedulePoll(ms = addJitter(POLL_MS)) {
  pollTimer ??= setTimeout(poll, ms);
}

let source = null;
let reconnectTimer = null;
function openStream() {
  reconnectTimer = null;
  if (source || document.visibilityState !== "visible") return;
  source = new EventSource(texts.live);
  source.addEventListener("figures", (event) => {
    clearTimeout(pollTimer);
    pollTimer = null;
    showFigures(JSON.parse(event.data));
  });
  source.addEventListener("error", () => {
    if (signInLink.hidden) showConnection(false);
    if (source.readyState !== EventSource.CLOSED) return; // the browser reconnects by itself
    source = null;
    schedulePoll(500 * Math.random()); // no stream: the server has no free slot, or nobody is signed in
    reconnectTimer ??= setTimeout(openStream, addJitter(RECONNECT_MS));
  });
}

function closeStream() {
  source?.close();
  source = null;
}

if (root) {
  if ("stream" in texts) whileVisible(openStream, closeStream);
  else schedulePoll();
  setInterval(updateClocks, 1000);
}
