"""Time from a key press until the next item is painted."""

from __future__ import annotations

from statistics import median

import pytest
from playwright.sync_api import Page, expect

import leaseq
from tests.browser.work_page import YES_NO, begin, expect_item, fill_queue

ITEMS = 10_000
# For each action: the keys that choose it and give the reason, and the key that sends it.
ACTIONS: dict[str, tuple[list[str], str, int]] = {
    "finish": ([], "1", 15),
    "finish an item of 20 kB": ([], "1", 7),
    "later": ([], "l", 7),
    "not for me": (["n"], "Control+Enter", 7),
    "report a problem": (["b", "x"], "Control+Enter", 7),
    "return with a note": (["g", "x"], "Control+Enter", 7),
}

# From the key press to the second frame after the next item arrived: by then it has been painted.
NEXT_PAINT = """
() => new Promise((resolve) => {
  const before = document.getElementById("item-view");
  addEventListener("keydown", (event) => {
    const began = event.timeStamp;
    new MutationObserver((_, watch) => {
      if (document.getElementById("item-view") === before) return;
      watch.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
    }).observe(document.querySelector("main"), { childList: true });
  }, { once: true });
})
"""


@pytest.mark.parametrize("action", ACTIONS)
def test_next_item_is_painted_after_each_action(
    tab: Page, person: str, queue: leaseq.Queue, action: str
) -> None:
    """Print the milliseconds (pytest -s); assert only that each action shows the next item."""
    first_keys, send_key, rounds = ACTIONS[action]
    fill_queue(queue, YES_NO, items=0)
    more = " and so on" * 2_000 if "20 kB" in action else ""
    for number in range(1, rounds + 2):
        queue.enqueue({"text": f"message {number}{more}"})
    queue.enqueue_many({"text": f"message {number}"} for number in range(rounds + 2, ITEMS + 1))
    begin(tab, person, queue)
    times = []
    for number in range(2, rounds + 2):
        tab.keyboard.press("Escape")  # focuses the item, where single keys work
        for key in first_keys:
            tab.keyboard.press(key)
            expect(tab.locator("details[open] textarea:focus")).to_have_count(1)
        tab.evaluate(f"() => {{ window.painted = ({NEXT_PAINT})(); }}")
        tab.keyboard.press(send_key)
        times.append(tab.evaluate("window.painted"))
        expect_item(tab, f"message {number}")
    if action == "finish":
        tab.reload()  # the other process may write the last figures a moment later
        expect(tab.get_by_text(f"{rounds} today")).to_be_visible()
    print(
        f"{action}: next item painted after {median(times):.0f} ms, "
        f"at most {max(times):.0f} ms; {ITEMS:,} wait"
    )
