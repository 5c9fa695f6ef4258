"""An item with its form, as the work page shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flask import render_template, request, url_for

import leaseq
from leaseq import Json
from webapp.forms import Field, Typed, errors_at, fields_of
from webapp.show import parts_of
from webapp.state import person, state
from webapp.work.receipt import Receipt

PAGE_KEYS = ("k", "l", "n", "g", "b", "t", "u", "h")
"""Keep working, later, not for me, give it back with a note, it is broken, take it back, undo, how to."""

PIECE = "X-Leaseq-Piece"
"""The page's script asks by this header for the sheet alone."""


def wants_piece() -> bool:
    return PIECE in request.headers


@dataclass(frozen=True, slots=True)
class Sheet:
    queue: leaseq.Queue
    policy: leaseq.Policy
    id: str
    token: int
    typed: Typed
    lease: leaseq.Lease | None = None  # None: it is over, and `receipt` says how
    leases: Sequence[leaseq.Lease] = ()  # all that the person holds here
    item: leaseq.Item | None = None  # where there is no lease to show it from
    receipt: Receipt | None = None
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def payload(self) -> Json:
        return self.lease.payload if self.lease else self.item.payload if self.item else None

    @property
    def url(self) -> str:
        """Where it is found again: by its id only where they hold several."""
        several = self.lease is not None and len(self.leases) > 1
        return url_for("work.page", q=self.queue.name, item=self.id if several else None)


def shown(sheet: Sheet) -> str:
    fields = fields_of(sheet.policy.form)
    return render_template(
        "work/sheet.html" if wants_piece() else "work/page.html",
        piece=wants_piece(),
        sheet=sheet,
        today=state().days.today(person().name, sheet.queue.name),
        queue=sheet.queue,
        id=sheet.id,
        policy=sheet.policy,
        lease=sheet.lease,
        receipt=sheet.receipt,
        renewals=_renewals_left(sheet),
        parts=parts_of(sheet.policy.form, sheet.payload) if sheet.lease or sheet.item else (),
        fields=fields,
        errors=errors_at(fields, sheet.errors),
        by_name={one.name: one for one in fields},
        keys=free_keys(fields),
        one_key=answers_by_one_key(fields),
    )


def _renewals_left(sheet: Sheet) -> int | None:
    """How often the lease may still be renewed; None: no limit."""
    most = sheet.policy.renewals
    if most is None or sheet.lease is None:
        return None
    held = (one for one in sheet.queue.get(sheet.id).leases if one.token == sheet.token)
    return max(most - next((one.renewals for one in held), 0), 0)


def free_keys(fields: Iterable[Field]) -> dict[str, str]:
    """The page's own keys that no choice of the form has."""
    taken = {choice.key.lower() for one in fields for choice in one.choices if choice.key}
    return {key: key for key in PAGE_KEYS if key not in taken}


def answers_by_one_key(fields: Iterable[Field]) -> Field | None:
    """The one thing that must be answered, where it is a choice by keys: its key finishes the item."""
    needed = [one for one in fields if one.required and all(group.required for group in one.groups)]
    if len(needed) == 1 and needed[0].kind == "choice" and all(one.key for one in needed[0].choices):
        return needed[0]
    return None
