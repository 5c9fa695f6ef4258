"""What the managers' log says of a changed form."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq import Json
from leaseq.webapp.forms.changes import form_changes
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import Browser
from tests.web.manage.settings_calls import save, settings_fields


def asking(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"ask": {"type": "object", "required": list(required), "properties": properties}}


ABOUT = {"title": "About", "enum": ["refund", "delivery"]}
URGENT = {"title": "Urgent", "type": "boolean"}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (None, asking(about=ABOUT), ["form set"]),
        (asking(about=ABOUT), None, ["form removed"]),
        (asking(about=ABOUT), asking(about=ABOUT, urgent=URGENT), ["question 'Urgent' added"]),
        (asking(about=ABOUT, note={}), asking(about=ABOUT), ["question 'note' removed"]),
        (
            asking(about=ABOUT),
            asking(about={**ABOUT, "enum": ["refund", "other", "lost"]}),
            ["options 'other', 'lost' of 'About' added", "option 'delivery' of 'About' removed"],
        ),
        (
            asking(tags={"type": "array", "items": {"enum": ["a"]}}),
            asking(tags={"type": "array", "items": {"enum": ["a", "b"]}}),
            ["option 'b' of 'tags' added"],
        ),
        (asking(about=ABOUT), asking(about={**ABOUT, "title": "Topic"}), ["question 'Topic' changed"]),
        (asking(about=ABOUT), asking(("about",), about=ABOUT), ["question 'About' required"]),
        (asking(("about",), about=ABOUT), asking(about=ABOUT), ["question 'About' optional"]),
        (
            asking(about=ABOUT, urgent=URGENT),
            asking(urgent=URGENT, about=ABOUT),
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
def test_each_change_has_words(before: Json, after: Json, said: list[str]) -> None:
    assert form_changes(before, after) == said


def test_the_log_tells_them(boss: Browser, queue: leaseq.Queue, accounts: Accounts) -> None:
    queue.configure(form=asking(about=ABOUT))
    typed = settings_fields(boss, queue)
    changed = typed["form"].replace('"delivery"', '"parcel"')
    assert save(boss, queue, typed, form=changed).status_code == 303
    assert accounts.log.page(person=queue.name).entries[0].detail == (
        "form: option 'parcel' of 'About' added; option 'delivery' of 'About' removed"
    )
