// Shows the outcome of a lease that has ended. It may still change, when somebody else takes the item.
import { localiseTimes } from "../shared/page.js";
import { repeat } from "./item-view.js";

const POLL_MS = 15_000;
const MIN_PAUSE_MS = 2000; // after a request, before input causes the next one

export class LeaseOutcome {
  constructor({ root, form, signal }) {
    this.note = root.querySelector("#lease-outcome");
    this.form = form;
    this.signal = signal;
    this.requestedAt = 0;
  }

  // The lease has just ended. `isExpired`: by its time, as the page says until the server responds.
  show(isExpired) {
    this.note.hidden = !isExpired;
    this.refresh();
    this.poll();
  }

  poll() {
    const { form, signal } = this;
    repeat(signal, POLL_MS, () => this.refresh());
    form.addEventListener("input", () => performance.now() - this.requestedAt > MIN_PAUSE_MS && this.refresh(), { signal });
  }

  async refresh() {
    if (document.visibilityState !== "visible") return;
    this.requestedAt = performance.now();
    try {
      const response = await fetch(this.form.dataset.leaseOutcomeUrl, { redirect: "manual" });
      const html = await response.text();
      const isKnown = response.ok || response.status === 404; // 404: the item no longer exists
      if (isKnown && !this.signal.aborted) this.showHtml(html);
    } catch {
      // no connection: the displayed text stays
    }
  }

  // A text that is displayed already is not announced again.
  showHtml(html) {
    const template = document.createElement("template");
    template.innerHTML = html; // from our own server and the page's own template
    const main = template.content.querySelector("main"); // an error page: they may no longer work on the queue
    if (main) template.content.replaceChildren(...main.querySelectorAll("h1 + p"));
    localiseTimes(template.content);
    const textOf = (node) => node.textContent.trim().replace(/\s+/g, " ");
    if (textOf(template.content) !== textOf(this.note)) this.note.replaceChildren(template.content);
    this.note.hidden = false;
  }
}
