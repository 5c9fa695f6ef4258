"""The fields of a queue's policy as the settings page asks for them: words, and text to value and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from flask_babel import gettext
from flask_babel import lazy_gettext as _

from leaseq import Invalid, Json, Policy, validation

Kind = Literal["text", "area", "json", "number", "seconds", "yes-no", "one-of"]

UNITS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(d|h|min|m|s)?\s*")
_DEFAULTS = Policy()


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of the policy as the page asks for it. Texts are lazy: each request has its language."""

    name: str
    label: Any
    help: Any
    kind: Kind
    limits: Any = ""
    options: tuple[tuple[str, Any], ...] = ()
    may_be_empty: bool = False

    def write(self, policy: Policy) -> str:
        """The field's value as it stands in the page."""
        value = getattr(policy, self.name)
        if value is None:
            return ""
        if self.kind == "json":
            return json.dumps(value, ensure_ascii=False, indent=2)
        if self.kind == "seconds":
            return span_text(value)
        if self.kind == "yes-no":
            return "yes" if value else ""
        return " ".join(map(str, value)) if self.name == "bands" else str(value)

    def read(self, text: str) -> Json:
        """The value of what was typed, or Invalid."""
        if self.kind == "yes-no":
            return text == "yes"
        if self.kind == "area":
            return text
        if not text.strip() and self.may_be_empty:
            return None
        return _READERS[self.kind](self.name, text.strip())

    @property
    def default(self) -> str:
        return self.write(_DEFAULTS)


@dataclass(frozen=True, slots=True)
class Group:
    id: str
    title: Any
    settings: tuple[Setting, ...]


GROUPS = (
    Group(
        "work",
        _("The work"),
        (
            Setting("title", _("Title"), _("What people see."), "text", _("At most 200 characters.")),
            Setting(
                "instructions",
                _("Instructions"),
                _("How to do it, in Markdown. They are at hand beside each item."),
                "area",
            ),
            Setting(
                "form",
                _("Form"),
                _("What to show, what to ask (a JSON Schema), and keys. Empty: a table and one text box."),
                "json",
                may_be_empty=True,
            ),
        ),
    ),
    Group(
        "time",
        _("Time"),
        (
            Setting(
                "lease_seconds",
                _("Time for one item"),
                _("How long a person may hold it. Then somebody else may have it."),
                "seconds",
                _("0.1 s to 7 d."),
            ),
            Setting(
                "renewals",
                _("More time"),
                _("How often a person may take more time for one item. Empty: as often as they need."),
                "number",
                _("0 to 1,000,000 times."),
                may_be_empty=True,
            ),
            Setting(
                "holds",
                _("Items at once"),
                _("How many items one person may have."),
                "number",
                _("1 to 100."),
            ),
            Setting(
                "bands",
                _("Priorities"),
                _("Two numbers: an item whose priority is up to the first is high, past the second low."),
                "text",
                _("0 to 1,000,000, the first no larger than the second."),
            ),
        ),
    ),
    Group(
        "back",
        _("Giving back and trying again"),
        (
            Setting(
                "max_attempts",
                _("Attempts"),
                _("An item that ran out of time or was reported broken so often is dead."),
                "number",
                _("1 to 1,000."),
            ),
            Setting(
                "max_abandons",
                _("Given back by"),
                _("When so many people gave an item back, it is dead. Empty: never for that."),
                "number",
                _("1 to 1,000 people."),
                may_be_empty=True,
            ),
            Setting(
                "retry_seconds",
                _("Wait after a problem"),
                _("How long an item that was reported broken rests before the next try. Doubled each time."),
                "seconds",
                _("0 s to 7 d."),
            ),
            Setting(
                "retry_max_seconds",
                _("Longest such wait"),
                _("It is not doubled past this."),
                "seconds",
                _("0 s to 7 d."),
            ),
            Setting(
                "share_drafts",
                _("Pass drafts on"),
                _("What one person typed stands in the form of the next who gets the item."),
                "yes-no",
            ),
        ),
    ),
    Group(
        "answers",
        _("Several answers"),
        (
            Setting(
                "answers",
                _("Answers"),
                _("How many different people answer each item. Counts for items handed out from now on."),
                "number",
                _("1 to 100."),
            ),
        ),
    ),
    Group(
        "keeping",
        _("Keeping"),
        (
            Setting(
                "keep_finished_seconds",
                _("Keep finished items"),
                _("After that they are forgotten, answers and all: export first. Empty: they are kept."),
                "seconds",
                _("At most 3650 d."),
                may_be_empty=True,
            ),
            Setting(
                "dedupe_seconds",
                _("Same content"),
                _("An item that equals one that entered within this time is not added. 0: it always is."),
                "seconds",
                _("At most 3650 d."),
            ),
            Setting(
                "durable",
                _("Saved means"),
                _("What an answer waits for before the page says that it is saved."),
                "one-of",
                options=(
                    ("server", _("the server has it")),
                    ("fsync", _("it is on the server's disk")),
                    ("replica", _("another server has it, too")),
                    ("majority", _("more than half of the other servers have it, too")),
                ),
            ),
        ),
    ),
)

SETTINGS = tuple(one for group in GROUPS for one in group.settings)


def written(policy: Policy) -> dict[str, str]:
    """Each field of a policy as it stands in the page."""
    return {one.name: one.write(policy) for one in SETTINGS}


def read_all(typed: Mapping[str, str]) -> tuple[dict[str, Json], dict[str, str]]:
    """The values, and what is wrong at which field."""
    values: dict[str, Json] = {}
    errors: dict[str, str] = {}
    for one in SETTINGS:
        if one.name not in typed:
            continue
        try:
            values[one.name] = one.read(typed[one.name])
        except Invalid as refused:
            errors[one.name] = refused.limit
    return values, errors


def span_text(seconds: float) -> str:
    """A duration in full, as ``read`` takes it: ``1 h 30 min``."""
    if seconds != int(seconds):
        return f"{seconds:f}".rstrip("0") + " s"
    parts: list[str] = []
    left = int(seconds)
    for unit, size in UNITS.items():
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 s"


def _number(name: str, text: str) -> Json:
    try:
        found = validation.load_json(text, name)
    except Invalid:
        raise Invalid(name, str(gettext("a number, such as 3"))) from None
    return int(found) if isinstance(found, float) and found.is_integer() else found


def _seconds(name: str, text: str) -> Json:
    """Seconds of ``90``, ``1 h 30 min`` or ``1.5 h``."""
    parts = list(_SPAN.finditer(text))
    whole = "".join(part.group() for part in parts) == text
    if not parts or not whole or (len(parts) > 1 and not all(part[2] for part in parts)):
        raise Invalid(name, str(gettext("a time, such as 90 s, 5 min, 1 h 30 min or 2 d")))
    sizes = {**UNITS, "m": 60}
    found = round(sum(float(part[1]) * sizes[part[2] or "s"] for part in parts), 6)
    return int(found) if found == int(found) else found


def _text(name: str, text: str) -> Json:
    if name != "bands":
        return text
    return tuple(_number(name, part) for part in text.replace(",", " ").split())


def _json(name: str, text: str) -> Json:
    return validation.load_json(text, name)


_READERS: dict[str, Callable[[str, str], Json]] = {
    "number": _number,
    "seconds": _seconds,
    "text": _text,
    "one-of": _text,
    "json": _json,
}
