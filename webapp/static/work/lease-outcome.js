// What became of a lease that is over. It may change: somebody else may take the item meanwhile.
import { localise } from "../shared/page.js";
import { every } from "./item-view.js";

const AGAIN = 15_000; // ms between two looks
const TYPED = 2000; // ms after a look, when typing asks for the next one

export class Outcome {
  constructor({ root, form, signal }) {
    this.note = root.querySelector("#receipt");
    this.form = form;
    this.signal = signal;
    this.askedAt = 0;
  }

  // The lease has just ended. `known`: that its time ran out, which stands there until more is known.
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
      const known = answer.ok || answer.status === 404; // not there any more
      if (known && !this.signal.aborted) this.say(text);
    } catch {
      // no connection: what stands there stays true
    }
  }

  // What stands there already is not said again.
  say(text) {
    const piece = document.createElement("template");
    piece.innerHTML = text; // made by our own server, of the same template as the page
    const page = piece.content.querySelector("main"); // that says no: they may not work on the queue any more
    if (page) piece.content.replaceChildren(...page.querySelectorAll("h1 + p"));
    localise(piece.content);
    const words = (place) => place.textContent.trim().replace(/\s+/g, " ");
    if (words(piece.content) !== words(this.note)) this.note.replaceChildren(piece.content);
    this.note.hidden = false;
  }
}
