"""The audit log's description of a changed form."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq import Json
from leaseq.webapp.forms.changes import FormChange, form_changes
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import Browser
from tests.web.manage.settings_calls import save, settings_fields


def form_of(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"ask": {"type": "object", "required": list(required), "properties": properties}}


ABOUT = {"title": "About", "enum": ["refund", "delivery"]}
URGENT = {"title": "Urgent", "type": "boolean"}


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (None, form_of(about=ABOUT), [("form-set",)]),
        (form_of(about=ABOUT), None, [("form-removed",)]),
        (form_of(about=ABOUT), form_of(about=ABOUT, urgent=URGENT), [("question-added", "Urgent")]),
        (form_of(about=ABOUT, note={}), form_of(about=ABOUT), [("question-removed", "note")]),
        (
            form_of(about=ABOUT),
            form_of(about={**ABOUT, "enum": ["refund", "other", "lost"]}),
            [("options-added", "About", "other", "lost"), ("options-removed", "About", "delivery")],
        ),
        (
            form_of(tags={"type": "array", "items": {"enum": ["a"]}}),
            form_of(tags={"type": "array", "items": {"enum": ["a", "b"]}}),
            [("options-added", "tags", "b")],
        ),
        (form_of(about=ABOUT), form_of(about={**ABOUT, "title": "Topic"}), [("question-changed", "Topic")]),
        (form_of(about=ABOUT), form_of(("about",), about=ABOUT), [("question-required", "About")]),
        (form_of(("about",), about=ABOUT), form_of(about=ABOUT), [("question-optional", "About")]),
        (
            form_of(about=ABOUT, urgent=URGENT),
            form_of(urgent=URGENT, about=ABOUT),
            [("questions-reordered",)],
        ),
        (
            {"show": ["text", "order"]},
            {"show": ["order", {"field": "scan", "kind": "image"}]},
            [("field-added", "scan"), ("field-removed", "text")],
        ),
        ({"show": ["scan"]}, {"show": [{"field": "scan", "kind": "image"}]}, [("field-changed", "scan")]),
        ({"keys": {"1": "a"}}, {"keys": {"2": "a"}}, [("keys-changed",)]),
        (
            {"ask": {"type": "object", "additionalProperties": False}},
            {"ask": {"type": "object"}},
            [("rules-changed",)],
        ),
        (
            {"show": []},
            {"show": [f"f{n}" for n in range(14)]},
            [*(("field-added", f"f{n}") for n in range(12)), ("more", "2")],
        ),
        ({"show": []}, {}, [("form-changed",)]),
    ],
)
def test_each_form_change_is_described(before: Json, after: Json, changes: list[FormChange]) -> None:
    assert form_changes(before, after) == changes


def test_audit_log_describes_form_changes(
    manager_browser: Browser, queue: leaseq.Queue, accounts: Accounts
) -> None:
    queue.configure(form=form_of(about=ABOUT))
    fields = settings_fields(manager_browser, queue)
    new_form = fields["form"].replace('"delivery"', '"parcel"')
    assert save(manager_browser, queue, fields, form=new_form).status_code == 303
    assert accounts.log.page(person=queue.name).entries[0].values == {
        "form": [["options-added", "About", "parcel"], ["options-removed", "About", "delivery"]]
    }
