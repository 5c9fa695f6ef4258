// Shows the progress of a server task until it ends.
import { localise } from "./page.js";

const ASK_AGAIN = 700; // ms

// Poll until the task ends, and show each reply in `place`.
export async function follow(url, place) {
  for (;;) {
    try {
      const answer = await fetch(url, { headers: { "X-Leaseq-Piece": "state" }, redirect: "manual" });
      if (answer.type === "opaqueredirect") {
        if (place.dataset.told !== "out") place.insertAdjacentHTML("afterbegin", `<p class="error">${place.dataset.out}</p>`);
        place.dataset.told = "out";
      } else if (answer.ok) {
        const text = await answer.text();
        if (text !== place.dataset.told) {
          place.dataset.told = text;
          place.innerHTML = text; // from our own server and the page's own template
          localise(place);
        }
        if (place.querySelector("#run").dataset.over) return;
      } else if (answer.status < 500) return;
    } catch {
      // no connection: ask again
    }
    await new Promise((done) => setTimeout(done, ASK_AGAIN));
  }
}

const place = document.getElementById("state");
if (place.querySelector("#run")) follow(location.href, place);
