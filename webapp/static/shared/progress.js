// How far a task of the server has come, until it is over.
import { localise } from "./page.js";

const ASK_AGAIN = 700; // ms

// Ask until it is over; `place` shows what the server says.
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
          place.innerHTML = text; // made by our own server, of the same template as the page
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
