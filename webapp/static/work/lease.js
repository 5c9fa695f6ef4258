// The lease: shows the time left, and renews it while the person works.
import { formatTime } from "../shared/page.js";
import { repeat } from "./item-view.js";
import { LeaseOutcome } from "./lease-outcome.js";

const ACTIVITY_EVENTS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"];
const MIN_WARNING_MS = 20_000; // to read a warning and press a key
const RETRY_MS = 5000; // before activity tries again to renew, after a request without a response

export function begin(view) {
  const outcome = new LeaseOutcome(view);
  if (!document.getElementById("time-left")) return outcome.poll(); // it has ended, and the page shows its outcome
  const lease = new Lease(view, outcome);
  lease.begin();
  view.endLease = () => lease.end(); // for parts that learn from the server that the lease is lost
}

class Lease {
  constructor({ root, form, signal }, outcome) {
    this.outcome = outcome;
    this.form = form;
    this.signal = signal;
    this.timeLeft = document.getElementById("time-left");
    this.ring = document.getElementById("ring");
    this.container = this.timeLeft.closest(".time");
    this.renewButton = document.getElementById("renew");
    this.noRenewals = document.getElementById("no-renewals");
    this.warning = root.querySelector("#warning");
    this.draftStatus = form.querySelector("#draft-status");
    // Time since the page began: the server sent a duration, so a wrong clock does no harm. One of the two clocks
    // stops while the computer sleeps.
    const began = [performance.now(), Date.now()];
    this.now = () => Math.max(performance.now() - began[0], Date.now() - began[1]);
    this.endsAt = Number(this.timeLeft.dataset.seconds) * 1000;
    this.durationMs = Number(this.timeLeft.dataset.leaseSeconds) * 1000;
    this.renewals = form.dataset.renewals === "" ? Infinity : Number(form.dataset.renewals);
    this.renewableAt = 0; // when activity may renew it again
    this.isOver = false;
  }

  begin() {
    const { signal } = this;
    for (const type of ACTIVITY_EVENTS) {
      document.addEventListener(type, (event) => this.renewOnActivity(event), { passive: true, signal });
    }
    this.renewButton?.addEventListener("click", (event) => {
      event.preventDefault();
      this.renew();
    });
    document.getElementById("expires-at").hidden = true;
    this.timeLeft.parentElement.hidden = false;
    repeat(signal, 1000, () => this.isOver || this.show());
    this.show();
  }

  show() {
    const leftMs = Math.max(0, this.endsAt - this.now());
    const seconds = Math.ceil(leftMs / 1000);
    const { durationMs } = this;
    this.timeLeft.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    this.ring.setAttribute("stroke-dasharray", `${((100 * leftMs) / durationMs).toFixed(1)} 100`);
    this.container.classList.toggle("warning", leftMs <= durationMs / 5);
    this.showWarning(leftMs > 0 && leftMs <= Math.min(Math.max(durationMs / 5, MIN_WARNING_MS), durationMs / 2));
    if (seconds === 0) this.end();
  }

  // Announced once; cleared when the lease is renewed.
  showWarning(isDue) {
    if (isDue === (this.warning.textContent !== "")) return;
    this.warning.textContent = isDue ? this.warning.dataset[this.renewals === 0 ? "final" : "renewable"] : "";
  }

  // At most once per third of a lease. If renewals are limited, only in the last third, so that they last.
  renewOnActivity(event) {
    const isMotionless = event.type === "pointermove" && !event.movementX && !event.movementY;
    if (!event.isTrusted || event.repeat || isMotionless || this.renewals === 0) return;
    const share = this.renewals === Infinity ? 2 / 3 : 1 / 3;
    const now = this.now();
    if (now < this.renewableAt || now >= this.endsAt || this.endsAt - now > this.durationMs * share) return;
    this.renew();
  }

  async renew() {
    this.renewableAt = this.now() + this.durationMs / 3;
    const headers = { "Content-Type": "application/json", "X-CSRFToken": this.form.elements.csrf_token.value };
    const body = JSON.stringify({ token: Number(this.form.dataset.token) });
    let response;
    try {
      response = await fetch(this.form.dataset.renewUrl, { method: "POST", body, headers });
    } catch {
      this.renewableAt = this.now() + RETRY_MS;
      this.draftStatus.textContent = this.draftStatus.dataset.notRenewed;
      return;
    }
    if (this.signal.aborted) return;
    if (response.ok) this.extend(await response.json(), Date.parse(response.headers.get("Date")));
    else if (response.status === 400) this.showNoRenewals();
    else if (response.status === 409 || response.status === 404) this.end();
    else this.draftStatus.textContent = this.draftStatus.dataset[response.status === 401 ? "signedOut" : "notRenewed"];
  }

  extend(lease, sentAt) {
    this.durationMs = Date.parse(lease.expires_at) - sentAt; // both by the server's clock
    this.endsAt = this.now() + this.durationMs;
    this.renewableAt = this.now() + this.durationMs / 3;
    const time = document.querySelector("#expires-at time");
    time.dateTime = lease.expires_at;
    time.textContent = formatTime(lease.expires_at);
    this.renewals -= 1;
    if (this.renewals === 0) this.showNoRenewals();
    this.show();
  }

  showNoRenewals() {
    this.renewals = 0;
    this.noRenewals.hidden = false;
    if (this.renewButton) this.renewButton.hidden = true;
  }

  end() {
    if (this.isOver) return;
    this.isOver = true;
    this.showWarning(false);
    this.container.hidden = true;
    this.outcome.show(this.now() >= this.endsAt);
  }
}
