// Shows a chart's values under the pointer or by the arrow keys, and reloads the charts every minute.
const EVERY = 60000; // ms
const place = document.getElementById("charts");
let at = null;

const rows = () => [...place.querySelectorAll("[data-row]")];

function show(index) {
  const all = rows();
  at = index === null ? null : Math.min(Math.max(index, 0), all.length - 1);
  for (const one of place.querySelectorAll("rect.at")) one.classList.remove("at");
  const words = document.getElementById("chart-at");
  if (at === null) {
    words.textContent = words.dataset.hint;
    return;
  }
  for (const one of place.querySelectorAll(`[data-bucket="${at}"]`)) one.classList.add("at");
  const heads = [...place.querySelectorAll(".as-table thead th")].map((head) => head.textContent);
  const cells = [...all[at].children].map((cell) => cell.textContent);
  words.textContent = `${cells[0]}: ${cells.slice(1).map((value, index) => `${value} ${heads[index + 1]}`).join(", ")}`;
}

place.addEventListener("pointermove", (event) => {
  const bucket = event.target.closest("[data-bucket]");
  if (bucket) show(Number(bucket.dataset.bucket));
});
place.addEventListener("pointerleave", () => !place.contains(document.activeElement) && show(null));
place.addEventListener("keydown", (event) => {
  if (!event.target.matches(".charts")) return;
  const last = rows().length - 1;
  const to = { ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? last) + 1, Home: 0, End: last, Escape: null }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  show(to);
});

setInterval(async () => {
  if (document.visibilityState !== "visible" || place.contains(document.activeElement)) return;
  try {
    const answer = await fetch(place.dataset.load, { redirect: "manual" });
    if (answer.ok) {
      const open = place.querySelector(".as-table")?.open;
      place.innerHTML = await answer.text(); // our own template
      if (open) place.querySelector(".as-table").open = true;
    }
  } catch {
    // no connection: the charts stay as they are, and the page says so
  }
}, EVERY);
