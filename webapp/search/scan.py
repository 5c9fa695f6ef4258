"""Pages of a search in one list, or alternating between the lists of all states, in bounded steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import leaseq
from leaseq import STATES, Filter, Invalid, Item, ListName, Page
from leaseq.webapp.search.matching import Part

COMPARED = 5_000
"""Entries that one request compares with a search box: about half a second."""
_AT_ONCE = 250


@dataclass(frozen=True, slots=True)
class Scan:
    """A queue, with the criteria and the order of the wanted items."""

    queue: leaseq.Queue
    where: Filter
    parts: Sequence[Part]  # of the search box
    backwards: bool

    def of_list(self, state: ListName, *, limit: int, look: int, after: str | None) -> Page:
        """A page of one list, among at most ``look`` of its entries."""
        if not self.parts:
            return self.queue.find(
                state, self.where, limit=limit, after=after, look=look, backwards=self.backwards
            )
        maximum, scanned_count = min(look, COMPARED), 0
        items: list[Item] = []
        while True:
            remaining = maximum - scanned_count
            page = self.queue.find(
                state, self.where, limit=_AT_ONCE, after=after, look=remaining, backwards=self.backwards
            )
            for number, item in enumerate(page.items, 1):
                if all(part.fits(item) for part in self.parts):
                    items.append(item)
                    if len(items) == limit:
                        # Entries that the filter left out before this item are not counted.
                        return Page(tuple(items), item.cursor, scanned_count + number)
            scanned_count, after = scanned_count + page.scanned, page.after
            if after is None or scanned_count >= maximum:
                return Page(tuple(items), after, scanned_count)

    def of_all(self, *, limit: int, look: int, after: str | None) -> Page:
        """A page of the lists of all states: some entries of each in turn, so that a long one does not hide
        others. Items are ordered by state; the cursor contains the place in each list that has more."""
        lists = deque(_places(after))
        if self.where.answers_above is not None:  # no finished item matches
            lists = deque((state, place) for state, place in lists if state != "finished")
        maximum, scanned_count = min(look, COMPARED) if self.parts else look, 0
        items: list[Item] = []
        while lists and len(items) < limit and scanned_count < maximum:
            state, place = lists.popleft()
            remaining = min(maximum - scanned_count, _AT_ONCE)
            page = self.of_list(state, limit=limit - len(items), look=remaining, after=place)
            items += page.items
            scanned_count += page.scanned
            if page.after is not None:
                lists.append((state, page.after))
        ordered_items = sorted(items, key=lambda item: STATES.index(item.state))
        cursor = urlencode([(state, place or "") for state, place in lists])
        return Page(tuple(ordered_items), cursor or None, scanned_count)


def place_of(item: Item) -> str:
    """The cursor for `Scan.of_all` that continues after an item in the list of its state."""
    return urlencode([(item.state, item.cursor)])


def _places(after: str | None) -> list[tuple[leaseq.State, str | None]]:
    if after is None:
        return [(state, None) for state in STATES]
    places = dict(parse_qsl(after, keep_blank_values=True))
    pairs: list[tuple[leaseq.State, str | None]] = [
        (state, places[state] or None) for state in STATES if state in places
    ]
    if not pairs or len(pairs) < len(places):
        raise Invalid("after", "format", what="cursor")
    # In the cursor's order, which says which list is next.
    return sorted(pairs, key=lambda pair: list(places).index(pair[0]))
