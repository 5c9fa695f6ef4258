// Shows the outcome of a lease that has ended. It may still change, when somebody else takes the item.
import { localise } from "../shared/page.js";
import { every } from "./item-view.js";

const AGAIN = 15_000; // ms between two requests
const TYPED = 2000; // ms after a request, before typing causes the next one

export class Outcome {
  constructor({ root, form, signal }) {
    this.note = root.querySelector("#receipt");
    this.form = form;
    this.signal = signal;
    this.askedAt = 0;
  }

  // The lease has just ended. `known`: it expired, which the page says until the server replies.
  show(known) {
    this.note.hidden = !known;
    this.look();
    this.follow();
  }

  follow() {
    const { form, signal } = this;
    every(signal, AGAIN, () => this.look());
    form.addEventListener("input", () => performance.now() - this.askedAt > TYPED && this.look(), { signal });
  }

  async look() {
    if (document.visibilityState !== "visible") return;
    this.askedAt = performance.now();
    try {
      const answer = await fetch(this.form.dataset.receipt, { redirect: "manual" });
      const text = await answer.text();
      const known = answer.ok || answer.status === 404; // the item no longer exists
      if (known && !this.signal.aborted) this.say(text);
    } catch {
      // no connection: the displayed text stays
    }
  }

  // A text that is displayed already is not announced again.
  say(text) {
    const piece = document.createElement("template");
    piece.innerHTML = text; // from our own server and the page's own template
    const page = piece.content.querySelector("main"); // an error page: they may no longer work on the queue
    if (page) piece.content.replaceChildren(...page.querySelectorAll("h1 + p"));
    localise(piece.content);
    const words = (place) => place.textContent.trim().replace(/\s+/g, " ");
    if (words(piece.content) !== words(this.note)) this.note.replaceChildren(piece.content);
    this.note.hidden = false;
  }
}
