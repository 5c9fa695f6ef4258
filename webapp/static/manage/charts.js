// Shows a chart's values under the pointer or by the arrow keys, and reloads the charts every minute.
import { fetchFragment } from "../shared/page.js";

const RELOAD_MS = 60000;
const container = document.getElementById("charts");
let selectedIndex = null; // of the bucket whose values are shown

const tableRows = () => [...container.querySelectorAll("[data-row]")];

function select(index) {
  const rows = tableRows();
  selectedIndex = index === null ? null : Math.min(Math.max(index, 0), rows.length - 1);
  for (const bucket of container.querySelectorAll("rect.active")) bucket.classList.remove("active");
  const status = document.getElementById("chart-values");
  if (selectedIndex === null) {
    status.textContent = status.dataset.hint;
    return;
  }
  for (const bucket of container.querySelectorAll(`[data-bucket="${selectedIndex}"]`)) bucket.classList.add("active");
  const headings = [...container.querySelectorAll(".chart-table thead th")].map((cell) => cell.textContent);
  const [time, ...values] = [...rows[selectedIndex].children].map((cell) => cell.textContent);
  status.textContent = `${time}: ${values.map((value, index) => `${value} ${headings[index + 1]}`).join(", ")}`;
}

container.addEventListener("pointermove", (event) => {
  const bucket = event.target.closest("[data-bucket]");
  if (bucket) select(Number(bucket.dataset.bucket));
});
container.addEventListener("pointerleave", () => !container.contains(document.activeElement) && select(null));
container.addEventListener("keydown", (event) => {
  if (!event.target.matches(".charts")) return;
  const last = tableRows().length - 1;
  const indexes = {
    ArrowLeft: (selectedIndex ?? last + 1) - 1,
    ArrowRight: (selectedIndex ?? last) + 1,
    Home: 0,
    End: last,
    Escape: null,
  };
  if (!Object.hasOwn(indexes, event.key)) return;
  event.preventDefault();
  select(indexes[event.key]);
});

setInterval(async () => {
  if (document.visibilityState !== "visible" || container.contains(document.activeElement)) return;
  const html = await fetchFragment(container.dataset.load);
  if (html === null) return; // the page says so
  const isTableOpen = container.querySelector(".chart-table")?.open;
  container.innerHTML = html;
  if (isTableOpen) container.querySelector(".chart-table").open = true;
}, RELOAD_MS);
