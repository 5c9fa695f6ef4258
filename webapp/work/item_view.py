"""Renders an item with its form for the work page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from flask import render_template, url_for

import leaseq
from leaseq import Json
from leaseq.webapp.context import person, state, wants_piece
from leaseq.webapp.forms import Typed, errors_at
from leaseq.webapp.notes import last_note
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.store.day_figures import DayFigures
from leaseq.webapp.store.threads import Message, new_message_id
from leaseq.webapp.work.form_view import form_view_of
from leaseq.webapp.work.lease_outcome import Receipt

VERBS = ("finish", "abandon", "fail", "renew", "draft", "receipt", "thread")


@dataclass(frozen=True)
class ItemView:
    """What the work page shows of an item."""

    queue: leaseq.Queue
    policy: leaseq.Policy
    id: str
    token: int
    typed: Typed
    lease: leaseq.Lease | None = None  # None: it has ended, and `receipt` says how
    leases: Sequence[leaseq.Lease] = ()  # all that the person holds in this queue
    item: leaseq.Item | None = None  # if there is no lease to show it from
    receipt: Receipt | None = None
    errors: Mapping[str, str] = field(default_factory=dict)
    box_texts: Mapping[str, str] = field(
        default_factory=dict
    )  # texts of an undone act, by the text box they were typed in
    today: DayFigures | None = None  # of the person in this queue, if already known
    unread: bool = False  # the lease is new: if it is the item's first, nobody had the item before

    @property
    def payload(self) -> Json:
        return self.lease.payload if self.lease else self.item.payload if self.item else None

    @property
    def url(self) -> str:
        """The URL of the item's page, with its id only if the person holds several."""
        several = self.lease is not None and len(self.leases) > 1
        return url_for("work.page", q=self.queue.name, item=self.id) if several else self.queue_url

    @cached_property
    def queue_url(self) -> str:
        return url_for("work.page", q=self.queue.name)


def render_item(sheet: ItemView) -> str:
    form_view = form_view_of(sheet.policy.form)
    errors = errors_at(form_view.fields, sheet.errors)
    base = item_url(sheet.queue.name, sheet.id)
    item = _find_item(sheet)
    return render_template(
        "work/item_view.html" if wants_piece() else "work/page.html",
        piece=wants_piece(),
        sheet=sheet,
        # equivalent mutant: part: it saves a request for a value that is known
        today=sheet.today or state().activity.today(person().name, sheet.queue.name),
        queue=sheet.queue,
        id=sheet.id,
        to=urls_of(base),
        policy=sheet.policy,
        lease=sheet.lease,
        receipt=sheet.receipt,
        renewals=_renewals_left(sheet, item),
        note=_note_of_another(sheet, item),
        parts=parts_of(sheet.policy.form, sheet.payload) if sheet.lease or sheet.item else (),
        inputs=form_view.inputs(sheet.typed, errors),
        notices=form_view.notices(),
        ways_out=form_view.ways_out(base, sheet.box_texts, errors) if sheet.lease else None,
        messages=_messages(sheet),
        message_id=new_message_id(),
        errors=errors,
        by_name=form_view.by_name,
        keys=form_view.keys,
        one_key=form_view.one_key,
    )


def item_url(queue: str, id: str) -> str:
    """The URL of an item, ending with a slash."""
    return url_for("work.finish", q=queue, id=id).removesuffix("finish")


def urls_of(base: str) -> dict[str, str]:
    """The URLs of the actions on an item, by verb. Flask would need as long for one URL as this for all."""
    return {verb: base + verb for verb in VERBS}


def _find_item(sheet: ItemView) -> leaseq.Item | None:
    """The item, if the page shows more than the lease contains: the number of renewals, or a note of somebody
    who had the item before."""
    if sheet.lease is None or (sheet.policy.renewals is None and sheet.lease.attempt == 1):
        return sheet.item
    return sheet.queue.get(sheet.id)


def _messages(sheet: ItemView) -> list[Message]:
    """The item's thread; not read for an item that nobody had before, which has no thread."""
    if sheet.lease is None or (sheet.unread and sheet.lease.attempt == 1):
        return []
    return state().threads.of_item(sheet.queue.name, sheet.id)


def _note_of_another(sheet: ItemView, item: leaseq.Item | None) -> leaseq.Grant | None:
    """The note of the person who had the item before, or of the manager who reopened it; not the person's own
    note."""
    note = last_note(item) if item and sheet.lease else None
    return note if note and (note.how == "reopened" or note.person != person().name) else None


def _renewals_left(sheet: ItemView, item: leaseq.Item | None) -> int | None:
    """How often the lease may still be renewed; None: no limit."""
    limit = sheet.policy.renewals
    if limit is None or sheet.lease is None or item is None:
        return None
    leases = (one for one in item.leases if one.token == sheet.token)
    return max(limit - next((one.renewals for one in leases), 0), 0)
