"""The audit log's description of a changed form."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq import Json
from leaseq.webapp.forms.changes import form_changes
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import Browser
from tests.web.manage.settings_calls import save, settings_fields


def form_of(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"ask": {"type": "object", "required": list(required), "properties": properties}}


ABOUT = {"title": "About", "enum": ["refund", "delivery"]}
URGENT = {"title": "Urgent", "type": "boolean"}


@pytest.mark.parametrize(
    ("before", "after", "messages"),
    [
        (None, form_of(about=ABOUT), ["form set"]),
        (form_of(about=ABOUT), None, ["form removed"]),
        (form_of(about=ABOUT), form_of(about=ABOUT, urgent=URGENT), ["question 'Urgent' added"]),
        (form_of(about=ABOUT, note={}), form_of(about=ABOUT), ["question 'note' removed"]),
        (
            form_of(about=ABOUT),
            form_of(about={**ABOUT, "enum": ["refund", "other", "lost"]}),
            ["options 'other', 'lost' of 'About' added", "option 'delivery' of 'About' removed"],
        ),
        (
            form_of(tags={"type": "array", "items": {"enum": ["a"]}}),
            form_of(tags={"type": "array", "items": {"enum": ["a", "b"]}}),
            ["option 'b' of 'tags' added"],
        ),
        (form_of(about=ABOUT), form_of(about={**ABOUT, "title": "Topic"}), ["question 'Topic' changed"]),
        (form_of(about=ABOUT), form_of(("about",), about=ABOUT), ["question 'About' required"]),
        (form_of(("about",), about=ABOUT), form_of(about=ABOUT), ["question 'About' optional"]),
        (
            form_of(about=ABOUT, urgent=URGENT),
            form_of(urgent=URGENT, about=ABOUT),
            ["order of the questions changed"],
        ),
        (
            {"show": ["text", "order"]},
            {"show": ["order", {"field": "scan", "kind": "image"}]},
            ["field 'scan' added", "field 'text' removed"],
        ),
        ({"show": ["scan"]}, {"show": [{"field": "scan", "kind": "image"}]}, ["field 'scan' changed"]),
        ({"keys": {"1": "a"}}, {"keys": {"2": "a"}}, ["keys changed"]),
        (
            {"ask": {"type": "object", "additionalProperties": False}},
            {"ask": {"type": "object"}},
            ["rules of the answer changed"],
        ),
        (
            {"show": []},
            {"show": [f"f{n}" for n in range(14)]},
            [*(f"field 'f{n}' added" for n in range(12)), "and 2 more changes"],
        ),
        ({"show": []}, {}, ["form changed"]),
    ],
)
def test_each_form_change_is_described(before: Json, after: Json, messages: list[str]) -> None:
    assert form_changes(before, after) == messages


def test_audit_log_describes_form_changes(
    manager_browser: Browser, queue: leaseq.Queue, accounts: Accounts
) -> None:
    queue.configure(form=form_of(about=ABOUT))
    fields = settings_fields(manager_browser, queue)
    new_form = fields["form"].replace('"delivery"', '"parcel"')
    assert save(manager_browser, queue, fields, form=new_form).status_code == 303
    assert accounts.log.page(person=queue.name).entries[0].detail == (
        "Form: option 'parcel' of 'About' added; option 'delivery' of 'About' removed"
    )
