// Shows the outcome of a lease that has ended. It may still change, when somebody else takes the item.
import { fetchFragment, parseFragment } from "../shared/page.js";
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
    const isKnown = (status) => [200, 404].includes(status); // 404: the item no longer exists
    const html = await fetchFragment(this.form.dataset.leaseOutcomeUrl, isKnown);
    if (html !== null && !this.signal.aborted) this.showHtml(html);
  }

  // A text that is displayed already is not announced again.
  showHtml(html) {
    const content = parseFragment(html);
    const main = content.querySelector("main"); // an error page: they may no longer work on the queue
    if (main) content.replaceChildren(...main.querySelectorAll("h1 + p"));
    const textOf = (node) => node.textContent.trim().replace(/\s+/g, " ");
    if (textOf(content) !== textOf(this.note)) this.note.replaceChildren(content);
    this.note.hidden = false;
  }
}
