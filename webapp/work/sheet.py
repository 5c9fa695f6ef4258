"""An item with its form, as the work page shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flask import render_template

import leaseq
from leaseq import Json
from webapp.forms import Field, Typed, fields_of
from webapp.show import parts_of
from webapp.work.receipt import Receipt

PAGE_KEYS = ("k", "l", "n", "b", "t")
"""Keep working, later, not for me, it is broken, take it back."""


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


def shown(sheet: Sheet) -> str:
    fields = fields_of(sheet.policy.form)
    return render_template(
        "work/page.html",
        sheet=sheet,
        queue=sheet.queue,
        id=sheet.id,
        policy=sheet.policy,
        lease=sheet.lease,
        receipt=sheet.receipt,
        renewals=_renewals_left(sheet),
        parts=parts_of(sheet.policy.form, sheet.payload) if sheet.lease or sheet.item else (),
        fields=fields,
        errors=_by_field(fields, sheet.errors),
        by_name={one.name: one for one in fields},
        keys=free_keys(fields),
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


def _by_field(fields: Iterable[Field], errors: Mapping[str, str]) -> dict[str, str]:
    """Errors at the field that they are in: of ``tags.0``, for instance, that is ``tags``."""
    names = {one.name for one in fields}
    found: dict[str, str] = {}
    for path, text in errors.items():
        name = path if path in names else path.partition(".")[0]
        found.setdefault(name if name in names else path, text)
    return found
