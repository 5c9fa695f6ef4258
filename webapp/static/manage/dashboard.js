// Keeps a manager's page up to date. The data-… attributes of an element name the figure it shows. An element with
// the focus is never moved or removed, and only growing trouble is announced to screen readers.
import { local, say } from "../shared/page.js";
import { renew } from "../shared/session.js";

const root = document.querySelector("[data-live]");
const texts = root?.dataset;
const language = document.documentElement.lang;
const whole = new Intl.NumberFormat(language);
const plural = new Intl.PluralRules(language);
const POLL = 5000; // ms, without a stream
const TRY_STREAM = 30000; // ms between two attempts to open one
let ahead = 0; // ms that the server's clock is ahead of this one
let heard = new Date(); // when the last figures arrived
let figures = null;

const get = (data, path) => path.split(".").reduce((part, name) => part?.[name], data);
const set = (element, text) => element.textContent !== text && (element.textContent = text);
const now = () => Date.now() + ahead;

// A duration in its two largest units, formatted as on the server.
function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  let left = Math.max(Math.floor(seconds), 0);
  const parts = [];
  texts.units.split(" ").forEach((unit, index, units) => {
    const size = [86400, 3600, 60, 1][index];
    const count = Math.floor(left / size);
    left -= count * size;
    if (count || parts.length || index === units.length - 1) parts.push([count, unit]);
  });
  return parts.slice(0, 2).filter(([count], _, shown) => count || shown.length === 1).map(([count, unit]) => `${whole.format(count)} ${unit}`).join(" ");
}

// A measured duration; below ten seconds with tenths.
const tenths = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
function pace(seconds) {
  const short = seconds !== null && seconds !== undefined && seconds < 9.95;
  return short ? `${tenths.format(Math.max(seconds, 0))} ${texts.units.split(" ")[3]}` : span(seconds);
}

function time(element, at) {
  if (!at || element.dateTime === at) return;
  element.dateTime = at;
  element.title = at;
  set(element, local(at));
}

const capital = (word) => word.slice(0, 1).toUpperCase() + word.slice(1);

// An alert in words; for one that only a newer version knows, its rule.
function alertText(alert) {
  const text = texts["alert" + capital(alert.name)] ?? alert.key;
  return text.replace("%(limit)s", alert.name === "waiting" ? whole.format(alert.limit) : span(alert.limit));
}

// Updates every element in `place` that shows a value of `data`, except within rows, which have their own data.
function show(place, data) {
  const mine = (name) => [...place.querySelectorAll(`[data-${name}]`)].filter((one) => one.closest("[data-key]") === (place.dataset?.key === undefined ? null : place));
  for (const one of mine("n")) {
    const value = get(data, one.dataset.n);
    set(one, value === null || value === undefined ? "–" : whole.format(value));
    one.toggleAttribute("data-zero", value === 0);
  }
  for (const one of mine("f")) {
    const value = get(data, one.dataset.f);
    set(one, value === null || value === undefined || value === "" ? (one.dataset.empty ?? "") : (one.dataset.before ?? "") + value);
  }
  for (const one of mine("words")) set(one, plural.select(get(data, one.dataset.words) ?? 0) === "one" ? one.dataset.one : one.dataset.many);
  for (const one of mine("span")) set(one, pace(get(data, one.dataset.span)));
  for (const one of mine("ago")) one.dataset.at = get(data, one.dataset.ago) ?? "";
  for (const one of mine("left")) one.dataset.until = get(data, one.dataset.left) ?? "";
  for (const one of mine("bar")) {
    one.max = get(data, one.dataset.bar) || 1;
    one.dataset.until = data.until ?? "";
  }
  for (const one of mine("time")) time(one, get(data, one.dataset.time));
  for (const one of mine("d")) one.setAttribute("d", get(data, one.dataset.d) ?? "");
  for (const one of mine("why")) set(one, data.error || (texts["how" + capital(data.how)] ?? data.how));
  for (const one of mine("how")) set(one, texts["report" + capital(data.how)] ?? "");
  for (const one of mine("word")) set(one, texts[one.dataset.word + capital(get(data, one.dataset.word) ?? "")] ?? "");
  for (const one of mine("fill")) set(one, one.dataset.with.replace(/%\(\w+\)s/, () => get(data, one.dataset.fill)));
  for (const one of mine("value")) one.value = get(data, one.dataset.value);
  for (const one of mine("alert")) set(one, alertText(data));
  for (const one of mine("href")) lead(one, data);
  for (const one of mine("some")) hide(one, !some(get(data, one.dataset.some)));
  for (const one of mine("none")) hide(one, some(get(data, one.dataset.none)));
}

const some = (value) => (Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined && value !== 0 && value !== false);
const inUse = (element) => element.contains(document.activeElement) || element.querySelector("details[open], td :checked") !== null;

function hide(element, hidden) {
  if (element.hidden !== hidden && !(hidden && inUse(element))) element.hidden = hidden;
}

function lead(element, row) {
  let to;
  if (element.dataset.href === "dead") {
    const words = new URLSearchParams({ outcome: row.how, ...(row.error ? { text: row.error } : {}) });
    to = `${texts.dead}&${words}`;
  } else {
    const parts = { ITEM: row.id, QUEUE: row.queue, NAME: row.name };
    to = texts[element.dataset.href].replace(/ITEM|QUEUE|NAME/g, (part) => encodeURIComponent(parts[part]));
  }
  const name = element.tagName === "FORM" ? "action" : "href";
  if (element.getAttribute(name) !== to) element.setAttribute(name, to);
}

// Updates the rows of a list; rows that remain are changed in place.
function fill(list, rows) {
  const name = list.dataset.rows;
  const before = new Map([...list.children].map((one) => [one.dataset.key, one]));
  rows.forEach((row, index) => {
    let element = before.get(row.key);
    before.delete(row.key);
    if (!element) {
      element = document.getElementById(`row-${name}`).content.firstElementChild.cloneNode(true);
      element.dataset.key = row.key;
    }
    element.classList.remove("gone");
    show(element, row);
    const there = list.children[index];
    if (there !== element && !inUse(element)) list.insertBefore(element, there ?? null);
    else if (!element.isConnected) list.append(element);
  });
  for (const element of before.values()) {
    if (inUse(element)) element.classList.add("gone");
    else element.remove();
  }
}

function tick() {
  for (const one of root.querySelectorAll("[data-ago]")) {
    if (one.dataset.at !== undefined) set(one, one.dataset.at ? span((now() - Date.parse(one.dataset.at)) / 1000) : "–");
  }
  for (const one of root.querySelectorAll("[data-left]")) {
    const left = (Date.parse(one.dataset.until) - now()) / 1000;
    set(one, left > 0 ? span(left) : one.dataset.until ? texts.over : "–");
  }
  for (const one of root.querySelectorAll("[data-bar]")) {
    one.value = Math.max((Date.parse(one.dataset.until) - now()) / 1000, 0) || 0;
    one.classList.toggle("soon", one.value <= one.max / 5);
  }
}

// Announces only growing trouble, at most once a minute.
let spokenAt = 0;
function speak(before, after) {
  if (!before?.counts || !after.counts || Date.now() - spokenAt < 60000) return;
  const raised = after.alerts.filter((one) => !before.alerts.some((known) => known.key === one.key)).map(alertText);
  const grown = after.counts.dead > before.counts.dead || after.overdue > before.overdue;
  if (!grown && !raised.length) return;
  spokenAt = Date.now();
  const sums = texts.trouble.replace("%(dead)s", whole.format(after.counts.dead)).replace("%(overdue)s", whole.format(after.overdue));
  say([...raised, ...(grown ? [sums] : [])].join(" "));
}

function take(data) {
  ahead = Date.parse(data.now) - Date.now();
  heard = new Date();
  if (data.queues) {
    for (const row of root.querySelectorAll("[data-queue]")) {
      const line = data.queues[row.dataset.queue];
      if (line) show(row, line);
    }
  } else {
    show(root, data);
    for (const list of root.querySelectorAll("[data-rows]")) fill(list, data[list.dataset.rows]);
    if (data.alerts) hide(root.querySelector("[data-no-trouble]"), some(data.alerts) || some(data.question_count) || some(data.report_count) || some(data.counts.dead) || some(data.overdue) || some(data.unwanted_count) || some(data.late_count));
    speak(figures, data);
  }
  figures = data;
  connected(true);
  tick();
}

const state = document.querySelector("[data-state]");
const signIn = document.querySelector("[data-sign-in]");

let away = false;
function connected(yes, out = false) {
  if (yes && away) renew(); // after a new sign-in in another tab, the forms' old CSRF tokens would be refused
  away = !yes;
  const words = yes ? texts.on : out ? texts.out : texts.off;
  if (out && signIn.hidden) say(words.replace("%(time)s", local(heard)));
  set(state, words.replace("%(time)s", local(heard)));
  if (signIn.hidden === out) signIn.hidden = !out;
}

async function ask() {
  const answer = await fetch(texts.live, { headers: { Accept: "application/json" }, redirect: "manual" });
  if (answer.type === "opaqueredirect") connected(false, true); // redirected to the sign-in page
  else if (!answer.ok) throw new Error(answer.status);
  else take(await answer.json());
}

// Without a stream, the page polls, with jitter so that pages don't poll simultaneously.
let polling = null;
async function poll() {
  polling = null;
  if (document.visibilityState === "visible") {
    try {
      await ask();
    } catch {
      connected(false);
    }
  }
  if (source?.readyState !== EventSource.OPEN) wait();
}
function wait(pause = POLL * (0.8 + 0.4 * Math.random())) {
  polling ??= setTimeout(poll, pause);
}

let source = null;
let retry = null;
function stream() {
  retry = null;
  if (source || document.visibilityState !== "visible") return;
  source = new EventSource(texts.live);
  source.addEventListener("figures", (event) => {
    clearTimeout(polling);
    polling = null;
    take(JSON.parse(event.data));
  });
  source.addEventListener("error", () => {
    if (signIn.hidden) connected(false);
    if (source.readyState !== EventSource.CLOSED) return; // the browser reconnects by itself
    source = null;
    wait(500 * Math.random()); // no stream: the server has no free slot, or nobody is signed in
    retry ??= setTimeout(stream, TRY_STREAM * (0.8 + 0.4 * Math.random()));
  });
}

// A hidden page closes its stream after a minute.
let leaving = null;
function look() {
  clearTimeout(leaving);
  if (document.visibilityState === "visible") stream();
  else
    leaving = setTimeout(() => {
      source?.close();
      source = null;
    }, 60000);
}

if (root) {
  if ("stream" in texts) {
    stream();
    document.addEventListener("visibilitychange", look);
  } else wait();
  setInterval(tick, 1000);
}
