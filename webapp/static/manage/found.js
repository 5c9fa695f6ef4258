// Counts what a search finds beyond the page, in steps that the server keeps short.
import { fetchFragment, parseFragment } from "../shared/page.js";

const status = document.getElementById("found");
const allFound = document.querySelector("[data-all-found]");

async function count() {
  status.setAttribute("aria-busy", "true"); // screen readers announce the last number only
  for (;;) {
    const url = status.querySelector("[data-next]")?.dataset.next;
    const html = url ? await fetchFragment(url) : null;
    if (html === null) break;
    status.replaceChildren(parseFragment(html));
    showCount();
  }
  status.removeAttribute("aria-busy");
}

function showCount() {
  const exact = status.querySelector("[data-exact]");
  if (exact && allFound) allFound.textContent = allFound.dataset.allFound.replace("{n}", exact.dataset.exact);
}

if (status) {
  showCount();
  count();
}
