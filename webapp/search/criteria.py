"""A search among a queue's items, as the query string of a URL, and the scan of the lists for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import parse_qsl, urlencode

from flask_babel import gettext as _
from flask_babel import ngettext

import leaseq
from leaseq import STATES, Filter, Invalid, Item, Json, ListName, Page, validation
from leaseq.webapp.forms.fields import fields_of
from leaseq.webapp.i18n import read_number, whole_number_in
from leaseq.webapp.rendering.filters import capital, state_word
from leaseq.webapp.search.matching import Part, in_terms_of, parts_of, words_of
from leaseq.webapp.site_time import filter_period

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


ANY: Literal["any"] = "any"
SearchedState: TypeAlias = Literal[ListName, "any"]
"""One list, or the lists of all states."""
SEARCHED_STATES: tuple[SearchedState, ...] = (ANY, *get_args(ListName))
LATEST_FIRST = ("finished", "dead", ANY)
"""The searches that are ordered newest first by default."""
FIELDS = (
    "find",
    "begins",
    "person",
    "outcome",
    "text",
    "skill",
    "back",
    "above",
    "from",
    "to",
    "overdue",
    "order",
)


@dataclass(frozen=True, slots=True)
class Search:
    """A list, or the lists of all states, with criteria and order."""

    state: SearchedState
    inputs: Mapping[str, str] = field(default_factory=dict)  # by FIELDS, as typed, without empty texts
    where: Filter = field(default_factory=Filter)
    parts: tuple[Part, ...] = ()  # of the search box

    @property
    def latest_first(self) -> bool:
        return self.inputs.get("order", "newest" if self.state in LATEST_FIRST else "oldest") == "newest"

    @property
    def is_by_entry(self) -> bool:
        """Whether items are ordered by when they entered their state."""
        return self.state in LATEST_FIRST

    @property
    def filters(self) -> bool:
        return any(name != "order" for name in self.inputs)

    def args(self) -> dict[str, Any]:
        """The search as query arguments."""
        return {"state": self.state, **self.inputs}

    @property
    def single_word(self) -> str:
        """The search box's text if it is a single word, which may be an id; else ''."""
        return self.parts[0].value if len(self.parts) == 1 and not self.parts[0].name else ""

    def args_without(self, name: str) -> dict[str, Any]:
        """The query arguments without one criterion: one of FIELDS, or a part of the search box."""
        args = {key: text for key, text in self.args().items() if key != name}
        rest = [part for part in self.parts if str(part) != name]
        if len(rest) < len(self.parts):
            args["find"] = words_of(tuple(rest)) or None
        return args

    def up_to(self, time: datetime) -> Search:
        """The same search without items that entered the list at this time or later."""
        until = min(self.where.until, time) if self.where.until else time
        return replace(self, where=replace(self.where, until=until))

    def page(
        self,
        queue: leaseq.Queue,
        *,
        limit: int,
        look: int,
        after: str | None = None,
        reverse: bool = False,
    ) -> leaseq.Page:
        """A page of the search; ``reverse``: in reverse order. With a text in the search box, at most
        COMPARED entries are scanned, and the page's ``after`` continues the search."""
        scan = Scan(queue, self.where, self.parts, backwards=self.latest_first != reverse)
        if self.state == ANY:
            return scan.of_all(limit=limit, look=look, after=after)
        return scan.of_list(self.state, limit=limit, look=look, after=after)

    def items(self, queue: leaseq.Queue) -> Iterator[Item]:
        """All items of the search, read page by page."""
        after = None
        while True:
            page = self.page(queue, limit=_AT_ONCE, look=COMPARED, after=after)
            yield from page.items
            after = page.after
            if after is None:
                return

    def cursor_of(self, item: leaseq.Item) -> str:
        """The position of an item in the search, for use as ``after``."""
        return place_of(item) if self.state == ANY else item.cursor


def search_among(find: str, state: SearchedState, where: Filter, form: Json) -> Search:
    """A search by a program: the search box's text, and the library's filter."""
    return Search(state, {"find": find} if find else {}, where, in_terms_of(parts_of(find), fields_of(form)))


def search_of(arguments: Mapping[str, Any], form: Json = None) -> Search:
    """Parse the search in a URL or a form; raises Invalid with the field's name. ``form``: the queue's form,
    whose titles and labels the search box may use. Without a state, criteria apply to all states."""
    inputs = {name: str(arguments.get(name) or "").strip() for name in FIELDS}
    searches = any(text for name, text in inputs.items() if name != "order")
    state = validation.one_of(
        arguments.get("state") or (ANY if searches else "inbound"), SEARCHED_STATES, "state"
    )
    if inputs["order"] not in ("", "newest", "oldest"):
        raise Invalid("order", "one_of", choices=("newest", "oldest"), value=inputs["order"])
    now = datetime.now(UTC)
    since, until = filter_period(inputs)
    if inputs["overdue"]:
        until = min(until, now) if until else now
    where = Filter(
        id=inputs["begins"],
        person=inputs["person"] or None,
        outcome=inputs["outcome"] or None,  # type: ignore[arg-type]  # the library checks it
        text=inputs["text"] or None,
        skill=inputs["skill"] or None,
        given_back_by=_count(inputs["back"], "back") if inputs["back"] else None,
        answers_above=_count(inputs["above"], "above", 100) if inputs["above"] else None,
        since=since,
        until=until,
    )
    parts = in_terms_of(parts_of(inputs["find"], read_number), fields_of(form))
    return Search(state, {name: text for name, text in inputs.items() if text}, where, parts)


def needing_more_answers(policy: leaseq.Policy) -> Search:
    """The search for unfinished items that need more answers than the policy says now."""
    return Search(ANY, {"above": str(policy.answers)}, Filter(answers_above=policy.answers))


def _count(text: str, field: str, maximum: int = 1_000) -> int:
    count = whole_number_in(text, field)
    if count is None or not 1 <= count <= maximum:
        raise Invalid(field, "range", minimum=1, maximum=maximum, value=text)
    return count


def list_names() -> dict[str, str]:
    return {
        ANY: _("All states"),
        **{state: capital(state_word(state)) for state in leaseq.STATES},
        "due": _("By due date"),
    }


def since_names() -> dict[str, str]:
    """The heading of the time column, by list."""
    return {
        "inbound": _("Waiting since"),
        "reserved": _("Expires"),
        "scheduled": _("Due at"),
        "finished": _("Done at"),
        "dead": _("Failed at"),
        "due": _("Due"),
        ANY: _("Since"),
    }


def outcome_names() -> dict[str, str]:
    """The outcomes of a lease that a search offers."""
    return {
        "held": _("holds it"),
        "finished": _("finished it"),
        "abandoned": _("gave it back"),
        "failed": _("reported a problem"),
        "expired": _("let it expire"),
        "released": _("was released from"),
        "undone": _("undid their answer"),
        "reopened": _("gave an answer that was reopened"),
        "corrected": _("gave an answer that was corrected"),
        "assigned": _("is assigned to"),
    }


def criteria_of(search: Search) -> dict[str, str]:
    """The criteria in words, by their names in FIELDS, and for the search box by its parts."""
    inputs = search.inputs
    words = {
        "begins": _("id begins with %(text)s", text=inputs.get("begins")),
        "person": inputs.get("person"),
        "outcome": outcome_names().get(inputs.get("outcome", ""), ""),
        "text": _("comment contains “%(text)s”", text=inputs.get("text")),
        "skill": _("needs %(text)s", text=inputs.get("skill")),
        "back": ngettext(
            "given back by %(num)s person or more",
            "given back by %(num)s people or more",
            search.where.given_back_by or 0,
        ),
        "above": ngettext(
            "needs more than %(num)s answer",
            "needs more than %(num)s answers",
            search.where.answers_above or 0,
        ),
        "from": _("from %(text)s", text=inputs.get("from")),
        "to": _("to %(text)s", text=inputs.get("to")),
        "overdue": _("overdue"),
    }
    parts = {str(part): part.phrase for part in search.parts}
    return parts | {name: str(text) for name, text in words.items() if name in inputs}


def description_of(search: Search) -> str:
    """The search in words, for confirmations and the audit log."""
    return ", ".join([list_names()[search.state], *criteria_of(search).values()])
