// What all pages share: times, menus, and what is said aloud.

// Times, in the page's language and the site's time zone, not in the browser's.
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

// A field for a time names the site's zone where this browser's clock differs from it now or in half a year.
const HALF_YEAR = 182 * 86400000; // ms
const written = (date, zone) => date.toLocaleString("en", { timeZone: zone });
const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const now = Date.now(); // read once, or a second may pass between two readings
const oneClock = [now, now + HALF_YEAR].every((time) => written(new Date(time), here) === written(new Date(time), timeZone));

export function localise(place) {
  for (const time of place.querySelectorAll("time[data-local]")) {
    time.title = time.textContent;
    time.textContent = local(time.dateTime, time.dataset.local === "seconds");
  }
  for (const note of place.querySelectorAll("[data-zone-note]")) note.hidden = oneClock;
}

localise(document);

// A screen reader says what changes in a region that was there before: what the page says as it loads is
// put there once more.
const live = document.getElementById("live");

export function say(text) {
  live.textContent = "";
  setTimeout(() => (live.textContent = text), 100);
}

const flashed = document.querySelector(".flashed");
if (flashed?.children.length) setTimeout(() => flashed.append(...flashed.children), 200);

// Menus close when something else is done, and by Escape. A long one is fetched when it is first opened.
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
  const details = event.target.closest("details:is(.ask, .confirm, .filters)[open]"); // asks before it does something, or holds a form
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
    // no connection: the link to all queues is there
  }
}
