// Shows the progress of a server task until it ends.
import { localiseTimes } from "./page.js";

const POLL_MS = 700;

// Shows each reply in `container`, until the task is over. Until then it is busy: screen readers announce the outcome,
// and not each step.
export async function pollProgress(url, container) {
  container.setAttribute("aria-busy", "true");
  try {
    await poll(url, container);
  } finally {
    container.removeAttribute("aria-busy");
  }
}

async function poll(url, container) {
  let shown = "";
  for (;;) {
    try {
      const response = await fetch(url, { headers: { "X-Leaseq-Fragment": "state" }, redirect: "manual" });
      if (response.type === "opaqueredirect") {
        if (shown !== "signed-out") container.insertAdjacentHTML("afterbegin", `<p class="error">${container.dataset.signedOut}</p>`);
        shown = "signed-out";
      } else if (response.ok) {
        const html = await response.text();
        if (html !== shown) {
          shown = html;
          container.innerHTML = html; // from our own server and the page's own template
          localiseTimes(container);
        }
        const task = container.querySelector("#task"); // null: the task was deleted
        if (!task || task.dataset.isOver) return;
      } else if (response.status < 500) return;
    } catch {
      // no connection: the next poll tries again
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const container = document.getElementById("state");
if (container.querySelector("#task")) pollProgress(location.href, container);
