"""The built-in form of a question whether a program may do something."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq.form import approval, changed, check_form, check_result, prefilled

ARGUMENTS: dict[str, Any] = {
    "amount": 80.5,
    "order": "40-1182",
    "pieces": 2,
    "notify": True,
    "tags": ["a"],
}
PAYLOAD = {"action": "refund", "arguments": ARGUMENTS}


def test_form_is_valid_and_prefills_only_arguments() -> None:
    form = approval("refund", ARGUMENTS)
    check_form(form)
    assert prefilled(form, PAYLOAD) == {f"arguments.{name}": value for name, value in ARGUMENTS.items()}


@pytest.mark.parametrize(
    "result",
    [
        {"decision": "approve"},
        {"decision": "edit", "arguments": {**ARGUMENTS, "amount": 40}},
        {"decision": "edit", "arguments": {**ARGUMENTS, "tags": {"any": ["json"]}}},
        {"decision": "reject", "reason": "Not before Monday"},
        {"decision": "respond", "message": "Ask the customer first"},
    ],
)
def test_each_decision_is_accepted(result: dict[str, Any]) -> None:
    check_result(approval("refund", ARGUMENTS), result)


@pytest.mark.parametrize(
    ("result", "field"),
    [
        ({}, "decision"),
        ({"decision": "maybe"}, "decision"),
        ({"decision": "reject"}, "reason"),
        ({"decision": "reject", "reason": ""}, "reason"),
        ({"decision": "respond"}, "message"),
        ({"decision": "edit"}, "arguments"),
        ({"decision": "edit", "arguments": {**ARGUMENTS, "amount": "40"}}, "arguments.amount"),
        ({"decision": "edit", "arguments": {**ARGUMENTS, "account": "mine"}}, "arguments"),
        ({"decision": "edit", "arguments": {"amount": 40}}, "arguments"),
    ],
)
def test_incomplete_decision_is_refused(result: dict[str, Any], field: str) -> None:
    with pytest.raises(leaseq.Invalid) as refusal:
        check_result(approval("refund", ARGUMENTS), result)
    assert field in refusal.value.errors


def test_only_allowed_decisions_are_offered() -> None:
    form = approval("refund", {}, ("approve", "reject"))
    check_form(form)
    assert set(form["ask"]["properties"]) == {"decision", "reason"}
    with pytest.raises(leaseq.Invalid):
        check_result(form, {"decision": "edit", "arguments": {}})
    for allow in ((), ("approve", "other")):
        with pytest.raises(leaseq.Invalid) as refusal:
            approval("refund", {}, allow)
        assert refusal.value.field == "allow"


@pytest.mark.parametrize(
    ("result", "names"),
    [
        ({"decision": "approve"}, ()),
        ({"decision": "edit", "arguments": ARGUMENTS}, ()),
        ({"decision": "edit", "arguments": {**ARGUMENTS, "amount": 40}}, ("arguments.amount",)),
        ({"decision": "edit", "arguments": {}}, tuple(f"arguments.{name}" for name in ARGUMENTS)),
    ],
)
def test_only_edited_arguments_count_as_changed(result: dict[str, Any], names: tuple[str, ...]) -> None:
    assert changed(approval("refund", ARGUMENTS), PAYLOAD, result) == names
