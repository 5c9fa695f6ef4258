// The lease: shows the time left, and renews it while the person works.
import { local } from "../shared/page.js";
import { every } from "./item-view.js";
import { Outcome } from "./lease-outcome.js";

const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"];
const IN_GOOD_TIME = 20_000; // ms, at least, to read a warning and press a key

export function begin(sheet) {
  const outcome = new Outcome(sheet);
  if (!document.getElementById("left")) return outcome.follow(); // it has ended, and the page shows its outcome
  const lease = new Lease(sheet, outcome);
  lease.begin();
  sheet.over = () => lease.over(); // for parts that learn from the server that the lease is lost
}

class Lease {
  constructor({ root, form, signal }, outcome) {
    this.outcome = outcome;
    this.form = form;
    this.signal = signal;
    this.left = document.getElementById("left");
    this.ring = document.getElementById("ring");
    this.time = this.left.closest(".time");
    this.button = document.getElementById("more");
    this.noMore = document.getElementById("no-more");
    this.warning = root.querySelector("#warning");
    this.draftNote = form.querySelector("#draft");
    // Time since the page began: the server sent a duration, so a wrong clock does no harm. One of the two clocks
    // stops while the computer sleeps.
    const began = [performance.now(), Date.now()];
    this.now = () => Math.max(performance.now() - began[0], Date.now() - began[1]);
    this.end = Number(this.left.dataset.left) * 1000;
    this.whole = Number(this.left.dataset.of) * 1000;
    this.renewals = form.dataset.renewals === "" ? Infinity : Number(form.dataset.renewals);
    this.next = 0; // when the script may renew again
    this.isOver = false;
  }

  begin() {
    const { signal } = this;
    for (const sign of SIGNS) document.addEventListener(sign, (event) => this.worked(event), { passive: true, signal });
    this.button?.addEventListener("click", (event) => {
      event.preventDefault();
      this.more();
    });
    document.getElementById("until").hidden = true;
    this.left.parentElement.hidden = false;
    every(signal, 1000, () => this.isOver || this.show());
    this.show();
  }

  show() {
    const rest = Math.max(0, this.end - this.now());
    const seconds = Math.ceil(rest / 1000);
    this.left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    this.ring.setAttribute("stroke-dasharray", `${((100 * rest) / this.whole).toFixed(1)} 100`);
    this.time.classList.toggle("soon", rest <= this.whole / 5);
    this.warn(rest > 0 && rest <= Math.min(Math.max(this.whole / 5, IN_GOOD_TIME), this.whole / 2));
    if (seconds === 0) this.over();
  }

  // Announced once; cleared when the lease is renewed.
  warn(soon) {
    if (soon === (this.warning.textContent !== "")) return;
    this.warning.textContent = soon ? this.warning.dataset[this.renewals === 0 ? "last" : "more"] : "";
  }

  // Renews on activity, at most once per third of a lease. If renewals are limited, only in the last third, so that
  // they last.
  worked(event) {
    const idle = !event.isTrusted || event.repeat || (event.type === "pointermove" && !event.movementX && !event.movementY);
    const share = this.renewals === Infinity ? 2 / 3 : 1 / 3;
    const now = this.now();
    if (idle || this.renewals === 0 || now < this.next || now >= this.end || this.end - now > this.whole * share) return;
    this.more();
  }

  async more() {
    this.next = this.now() + this.whole / 3;
    const headers = { "Content-Type": "application/json", "X-CSRFToken": this.form.elements.csrf_token.value };
    const body = JSON.stringify({ token: Number(this.form.dataset.token) });
    let answer;
    try {
      answer = await fetch(this.form.dataset.renew, { method: "POST", body, headers });
    } catch {
      this.next = this.now() + 5000; // the next activity tries again
      this.draftNote.textContent = this.draftNote.dataset.noTime;
      return;
    }
    if (this.signal.aborted) return;
    if (answer.ok) this.renewed(await answer.json(), Date.parse(answer.headers.get("Date")));
    else if (answer.status === 400) this.used();
    else if (answer.status === 409 || answer.status === 404) this.over();
    else this.draftNote.textContent = this.draftNote.dataset[answer.status === 401 ? "out" : "noTime"];
  }

  renewed(lease, sent) {
    this.whole = Date.parse(lease.expires_at) - sent; // both by the server's clock
    this.end = this.now() + this.whole;
    this.next = this.now() + this.whole / 3;
    const time = document.querySelector("#until time");
    time.dateTime = lease.expires_at;
    time.textContent = local(lease.expires_at);
    this.renewals -= 1;
    if (this.renewals === 0) this.used();
    this.show();
  }

  used() {
    this.renewals = 0;
    this.noMore.hidden = false;
    if (this.button) this.button.hidden = true;
  }

  over() {
    if (this.isOver) return;
    this.isOver = true;
    this.warn(false);
    this.time.hidden = true;
    this.outcome.show(this.now() >= this.end);
  }
}
