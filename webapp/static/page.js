// Times in the reader's own zone and words. Without this the page shows them in UTC.
const today = new Date().toDateString();

export function local(time) {
  const date = new Date(time);
  const clock = { hour: "2-digit", minute: "2-digit" };
  return date.toDateString() === today
    ? date.toLocaleTimeString([], clock)
    : date.toLocaleString([], { ...clock, year: "numeric", month: "short", day: "numeric" });
}

export function localise(place) {
  for (const time of place.querySelectorAll("time[data-local]")) {
    time.title = time.textContent;
    time.textContent = local(time.dateTime);
  }
}

localise(document);
