"""A search among a queue's items, as the query string of an address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, get_args

from flask_babel import gettext as _

import leaseq
from leaseq import Filter, Invalid, ListName, transfer, validation
from leaseq.webapp.rendering.states import capital, state_word
from leaseq.webapp.serving.numbers import whole

LISTS: tuple[ListName, ...] = get_args(ListName)
LATEST_FIRST = ("finished", "dead")
"""The lists that are ordered newest first by default."""

FIELDS = ("begins", "person", "outcome", "text", "skill", "back", "from", "to", "overdue", "order")


@dataclass(frozen=True, slots=True)
class Search:
    """A list of items, the criteria, and the order."""

    state: ListName
    typed: Mapping[str, str] = field(default_factory=dict)  # by FIELDS, as it was typed; nothing empty
    where: Filter = field(default_factory=Filter)

    @property
    def latest_first(self) -> bool:
        return self.typed.get("order", "newest" if self.state in LATEST_FIRST else "oldest") == "newest"

    @property
    def filters(self) -> bool:
        return any(name != "order" for name in self.typed)

    def args(self) -> dict[str, Any]:
        """The search as a query string's arguments."""
        return {"state": self.state, **self.typed}

    def up_to(self, time: datetime) -> Search:
        """The same, without what came into the list at this time or later."""
        until = min(self.where.until, time) if self.where.until else time
        return replace(self, where=replace(self.where, until=until))

    def page(
        self,
        queue: leaseq.Queue,
        *,
        limit: int,
        look: int,
        after: str | None = None,
        turned: bool = False,
    ) -> leaseq.Page:
        """A page of the search; ``turned``: in reverse order."""
        backwards = self.latest_first != turned
        return queue.find(self.state, self.where, limit=limit, after=after, look=look, backwards=backwards)


def search_of(sent: Mapping[str, Any]) -> Search:
    """Parse the search in an address or a form; raises Invalid with the field's name."""
    state = validation.one_of(sent.get("state") or "inbound", LISTS, "state")
    typed = {name: str(sent.get(name) or "").strip() for name in FIELDS}
    if typed["order"] not in ("", "newest", "oldest"):
        raise Invalid("order", "newest or oldest")
    now = datetime.now(UTC)
    until = _time(typed["to"], "to", last=True)
    if typed["overdue"]:
        until = min(until, now) if until else now
    where = Filter(
        id=typed["begins"],
        person=typed["person"] or None,
        outcome=typed["outcome"] or None,  # type: ignore[arg-type]  # the library checks it
        text=typed["text"] or None,
        skill=typed["skill"] or None,
        given_back_by=_count(typed["back"], "back") if typed["back"] else None,
        since=_time(typed["from"], "from"),
        until=until,
    )
    return Search(state, {name: text for name, text in typed.items() if text}, where)


def _time(text: str, field: str, *, last: bool = False) -> datetime | None:
    return transfer.time_of(text, field, last=last) if text else None


def _count(text: str, field: str) -> int:
    count = whole(text)
    if count is None or not 1 <= count <= 1_000:
        raise Invalid(field, "a whole number from 1 to 1,000")
    return count


def list_names() -> dict[str, str]:
    return {**{state: capital(state_word(state)) for state in leaseq.STATES}, "due": _("By due date")}


def since_names() -> dict[str, str]:
    """The heading of the time column of each list."""
    return {
        "inbound": _("Waiting since"),
        "reserved": _("Expires"),
        "scheduled": _("Due at"),
        "finished": _("Finished"),
        "dead": _("Died"),
        "due": _("Due"),
    }


def outcome_names() -> dict[str, str]:
    """The outcomes of a person's lease that a search offers."""
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


def said_of(search: Search) -> str:
    """The search in words, for a question and for the managers' log."""
    typed = search.typed
    names = {
        "begins": _("id begins with %(text)s", text=typed.get("begins")),
        "person": typed.get("person"),
        "outcome": outcome_names().get(typed.get("outcome", ""), ""),
        "text": _("comment contains “%(text)s”", text=typed.get("text")),
        "skill": _("needs %(text)s", text=typed.get("skill")),
        "back": _("given back by %(text)s people or more", text=typed.get("back")),
        "from": _("from %(text)s", text=typed.get("from")),
        "to": _("to %(text)s", text=typed.get("to")),
        "overdue": _("overdue"),
    }
    said = [str(words) for name, words in names.items() if name in typed]
    return ", ".join([list_names()[search.state], *said])
