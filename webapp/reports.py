"""Reports of a person about an item, and notes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import leaseq
from leaseq.transfer import rfc3339
from leaseq.webapp.item_title import item_title
from leaseq.webapp.store.threads import Question


def end_reason(item: leaseq.Item) -> leaseq.Grant | None:
    """The latest grant whose holder reported a problem, or gave the item back with a note."""
    return next((one for one in reversed(item.history) if one.reason and _has_remark(one)), None)


def last_note(item: leaseq.Item) -> leaseq.Grant | None:
    """The latest grant with a text for the next person: the note with which its holder gave the item back, or
    a manager's reason for reopening it."""
    endings = ("abandoned", "reopened")
    return next((one for one in reversed(item.history) if one.reason and one.how in endings), None)


def _has_remark(grant: leaseq.Grant) -> bool:
    return grant.how in ("abandoned", "failed")


_OUTCOMES: tuple[leaseq.LeaseOutcome, ...] = ("failed", "abandoned")
_RETURNED = ("dead", "scheduled")


@dataclass(frozen=True, slots=True)
class Report:
    """The latest report or note on an item."""

    item: leaseq.Item
    grant: leaseq.Grant

    @property
    def at(self) -> datetime:
        return self.grant.ended_at or self.grant.reserved_at

    @property
    def key(self) -> str:
        return f"{self.item.id} {self.grant.token}"

    def row(self, length: int) -> dict[str, Any]:
        """``length``: the limit of the text, in characters."""
        return {
            "key": self.key,
            **title_fields(self.item),
            "person": self.grant.person,
            "at": rfc3339(self.at),
            "how": self.grant.how,
            "text": shorten(self.grant.reason or "", length),
            "dead": self.item.state == "dead",
            "returnable": self.item.state in _RETURNED,
        }


def reports_on(items: list[leaseq.Item]) -> list[Report]:
    """The reports on these items: one per item, even if several of its assignments are in the list."""
    reports = (Report(item, grant) for item in items if (grant := end_reason(item)))
    return list({one.key: one for one in reports}.values())


def waiting_reports(queue: leaseq.Queue, *, most: int, look: int) -> tuple[list[Report], bool]:
    """The reports on inbound and scheduled items, and whether these are all. For each list and outcome, at
    most ``look`` entries are scanned and ``most`` items returned."""
    items: list[leaseq.Item] = []
    is_whole = True
    lists: tuple[leaseq.ListName, ...] = ("inbound", "scheduled")
    for name in lists:
        for outcome in _OUTCOMES:
            page = queue.find(name, leaseq.Filter(outcome=outcome), limit=most, look=look)
            items += page.items
            is_whole = is_whole and page.after is None
    return reports_on(items), is_whole


def question_row(question: Question, title: str, length: int) -> dict[str, Any]:
    return {
        "key": f"{question.id} {question.message.at.timestamp()}",
        "id": question.id,
        "title": title,
        "person": question.message.person,
        "at": rfc3339(question.message.at),
        "text": shorten(question.message.text, length),
    }


def title_fields(item: leaseq.Item) -> dict[str, str]:
    return {"id": item.id, "title": item_title(item.payload, item.id)}


def shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
