"""A value for each policy field that differs from a new queue's."""

from __future__ import annotations

from typing import Any

from leaseq.policy import FIELDS
from leaseq.policy_fields import Alerts, Bands, Boolean, Form, Integer, OneOf, Seconds, Text


def another_value(name: str) -> Any:
    match FIELDS[name].kind:
        case Integer(_, most):
            return most
        case Seconds(least, _):
            return least + 1.5
        case Boolean():
            return not FIELDS[name].default
        case OneOf(choices):
            return list(choices)[-1]
        case Text():
            return "Another"
        case Bands(least, most):
            return least, most
        case Alerts():
            return "waiting>500", "oldest>3600"
        case Form():
            return {"show": ["text"]}
    raise AssertionError(f"{name}: add another value for a field of this type here")


OTHER_VALUES = {name: another_value(name) for name in FIELDS}
