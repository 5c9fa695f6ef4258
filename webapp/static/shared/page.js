// For all pages: times, menus, and announcements to screen readers.

// Times in the page's language and the site's time zone, not the browser's.
const { lang } = document.documentElement;
const timeZone = document.body.dataset.zone;
const dayOf = (date) => date.toLocaleDateString(lang, { timeZone });

export function local(time, seconds = false) {
  const date = new Date(time);
  const clock = {
    timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(seconds ? { second: "2-digit" } : {}),
  };
  return dayOf(date) === dayOf(new Date())
    ? date.toLocaleTimeString(lang, clock)
    : date.toLocaleString(lang, { ...clock, year: "numeric", month: "short", day: "numeric" });
}

// A time field names the site's zone if this browser's clock differs from it now or in half a year.
const HALF_YEAR = 182 * 86400000; // ms
const written = (date, zone) => date.toLocaleString("en", { timeZone: zone });
const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const now = Date.now(); // read once: a second could pass between two readings
const oneClock = [now, now + HALF_YEAR].every((time) => written(new Date(time), here) === written(new Date(time), timeZone));

export function localise(place) {
  for (const time of place.querySelectorAll("time[data-local]")) {
    time.title = time.textContent;
    time.textContent = local(time.dateTime, time.dataset.local === "seconds");
  }
  for (const note of place.querySelectorAll("[data-zone-note]")) note.hidden = oneClock;
}

localise(document);

// A screen reader announces changes of a live region that already exists, so messages of the loaded page are
// appended again.
const live = document.getElementById("live");

export function say(text) {
  live.textContent = "";
  setTimeout(() => (live.textContent = text), 100);
}

const flashed = document.querySelector(".flashed");
if (flashed?.children.length) setTimeout(() => flashed.append(...flashed.children), 200);

// Menus close on a click or focus elsewhere, and on Escape. A long one is fetched when first opened.
const openMenus = () => document.querySelectorAll(".menu[open]");

document.addEventListener("click", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("focusin", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  const details = event.target.closest("details:is(.ask, .confirm, .filters)[open]"); // a confirmation or a form
  if (details) {
    details.open = false;
    details.querySelector("summary").focus();
  }
});
for (const menu of document.querySelectorAll(".menu[data-load]")) {
  menu.addEventListener("toggle", () => fill(menu), { once: true });
}

async function fill(menu) {
  try {
    const answer = await fetch(menu.dataset.load);
    if (answer.ok && !answer.redirected) menu.querySelector("div").innerHTML = await answer.text(); // our own template
  } catch {
    // no connection: the link to all queues remains
  }
}
