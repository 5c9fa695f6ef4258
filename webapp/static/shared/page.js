// For all pages: times, URLs, menus, forms that are sent, and announcements to screen readers.

// Times in the page's language and the site's time zone, not the browser's.
const { lang } = document.documentElement;
const { timeZone } = document.body.dataset;
const formatDay = (date) => date.toLocaleDateString(lang, { timeZone });

export function formatTime(time, hasSeconds = false) {
  const date = new Date(time);
  const clock = {
    timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(hasSeconds ? { second: "2-digit" } : {}),
  };
  return formatDay(date) === formatDay(new Date())
    ? date.toLocaleTimeString(lang, clock)
    : date.toLocaleString(lang, { ...clock, year: "numeric", month: "short", day: "numeric" });
}

// A time field names the site's zone if this browser's clock differs from it now or in half a year.
const HALF_YEAR_MS = 182 * 86400000;
const formatInZone = (date, zone) => date.toLocaleString("en", { timeZone: zone });
const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const now = Date.now(); // read once: a second could pass between two readings
const isSameClock = [now, now + HALF_YEAR_MS].every(
  (time) => formatInZone(new Date(time), browserZone) === formatInZone(new Date(time), timeZone),
);

// A name or an id as one segment of a URL's path, as the server spells it: "." and ".." lead nowhere.
export function pathSegment(value) {
  return encodeURIComponent(value) + (value === "." || value === ".." ? "%00" : "");
}

export function localiseTimes(root) {
  for (const time of root.querySelectorAll("time[data-local]")) {
    time.title = time.textContent;
    time.textContent = formatTime(time.dateTime, time.dataset.local === "seconds");
  }
  for (const note of root.querySelectorAll("[data-zone-note]")) note.hidden = isSameClock;
}

localiseTimes(document);

// A screen reader announces changes of a live region that already exists, so messages of the loaded page are
// appended again.
const announcements = document.getElementById("announcements");

export function announce(text) {
  announcements.textContent = "";
  setTimeout(() => (announcements.textContent = text), 100);
}

const flashes = document.querySelector(".flashes");
if (flashes?.children.length) setTimeout(() => flashes.append(...flashes.children), 200);

// A button says that its answer is on the way, if that takes a while. Returns a function that ends this.
export function showSending(button) {
  const timer = setTimeout(() => {
    button?.classList.add("saving");
    announce(document.body.dataset.sending);
  }, 150);
  return () => {
    clearTimeout(timer);
    button?.classList.remove("saving");
  };
}

// A second press sends nothing until the answer is there, or was not after some seconds; a form whose answer is a file,
// which leaves the page as it is, may be sent again at once.
const REPEATABLE_MS = 10_000;
const sentForms = new Map(); // the function that ends each

window.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || form.method !== "post" || "downloads" in form.dataset) return;
  if (sentForms.has(form)) return event.preventDefault();
  sentForms.set(form, showSending(submitter));
  setTimeout(() => endSending(form), REPEATABLE_MS);
});
window.addEventListener("pageshow", () => [...sentForms.keys()].forEach(endSending));

function endSending(form) {
  sentForms.get(form)?.();
  sentForms.delete(form);
}

// Menus, and panels over a list, close on a click or focus elsewhere, and on Escape. A long menu is fetched when first
// opened.
const getOpenMenus = () => document.querySelectorAll(":is(.menu, .filters)[open]");

for (const type of ["click", "focusin"]) {
  document.addEventListener(type, (event) => {
    if (event.target.closest?.("dialog")) return; // closed, it returns the focus into the menu
    for (const menu of getOpenMenus()) if (!menu.contains(event.target)) menu.open = false;
  });
}
// So does a panel over the page on a focus elsewhere, which it could cover.
document.addEventListener("focusin", ({ target }) => {
  for (const panel of document.querySelectorAll("[popover]:popover-open")) {
    if (!panel.contains(target) && target.popoverTargetElement !== panel) panel.hidePopover();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.target.closest("dialog")) return;
  for (const menu of getOpenMenus()) closeDetails(menu);
  const details = event.target.closest("details:is(.action-form, .confirm)[open]");
  if (details) closeDetails(details);
});

function closeDetails(details) {
  details.open = false;
  details.querySelector("summary").focus();
}

for (const menu of document.querySelectorAll(".menu[data-load]")) {
  menu.addEventListener("toggle", () => loadMenu(menu), { once: true });
}

async function loadMenu(menu) {
  const html = await fetchFragment(menu.dataset.load);
  if (html !== null) menu.querySelector("div").innerHTML = html; // else the link to all queues remains
}

// The HTML of our own server's template at `url`; null without a connection or a session, or for another `status`.
// `signal` may abort it.
export async function fetchFragment(url, isExpected = (status) => status === 200, signal = undefined) {
  try {
    const response = await fetch(url, { redirect: "manual", signal });
    return isExpected(response.status) ? await response.text() : null;
  } catch {
    return null;
  }
}

// A fragment's nodes, with its times in the page's zone.
export function parseFragment(html) {
  const { content } = Object.assign(document.createElement("template"), { innerHTML: html });
  localiseTimes(content);
  return content;
}

// Calls `open` whenever the page is visible, and `close` when it was hidden for a minute.
export function whileVisible(open, close) {
  let timer = null;
  const update = () => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") open();
    else timer = setTimeout(close, 60_000);
  };
  document.addEventListener("visibilitychange", update);
  update();
}
