"""The next item is there before the hand has left the key."""

from __future__ import annotations

from statistics import median

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.working import YES_NO, begin, filled, shows

ITEMS = 10_000
ROUNDS = 15

# From the key press to the second frame after the next item came: that one has been painted.
PAINTED = """
() => new Promise((resolve) => {
  const before = document.getElementById("sheet");
  addEventListener("keydown", (event) => {
    const began = event.timeStamp;
    new MutationObserver((_, watch) => {
      if (document.getElementById("sheet") === before) return;
      watch.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
    }).observe(document.querySelector("main"), { childList: true });
  }, { once: true });
})
"""


def test_how_long_the_next_item_takes(tab: Page, person: str, queue: leaseq.Queue) -> None:
    """Prints the milliseconds (pytest -s); asserts only that each key brought the next item."""
    filled(queue, YES_NO)
    queue.enqueue_many({"text": f"message {number}"} for number in range(4, ITEMS + 4))
    begin(tab, person, queue)
    taken = []
    for number in range(2, ROUNDS + 2):
        tab.evaluate(f"() => {{ window.painted = ({PAINTED})(); }}")
        tab.keyboard.press("1")
        taken.append(tab.evaluate("window.painted"))
        shows(tab, f"message {number}")
    expect(tab.get_by_text(f"{ROUNDS} today")).to_be_visible()
    print(f"next item painted after {median(taken):.0f} ms, at most {max(taken):.0f} ms; {ITEMS:,} wait")
