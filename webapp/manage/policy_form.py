"""The settings page's fields, made from `leaseq.policy`: their wording, parsing and formatting."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from flask_babel import format_decimal, gettext

from leaseq import Invalid, Json, Policy, validation
from leaseq.policy import FIELDS
from leaseq.policy import GROUPS as TITLES
from leaseq.policy_fields import (
    MAX_ALERT_LIMIT,
    Alerts,
    Bands,
    Boolean,
    Field,
    Form,
    Integer,
    Line,
    OneOf,
    Seconds,
    Text,
)
from leaseq.webapp.numbers import number_text, read_number

UNITS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
_SPAN = re.compile(r"([^\sa-zA-Z]+)\s*(d|h|min|m|s)?\s*")
_PLAIN_NUMBER = re.compile(r"\s*[^\sa-zA-Z]+\s*")
_DEFAULTS = Policy()


@dataclass(frozen=True, slots=True)
class Setting:
    """The form field of one policy field. Texts are in the language of the request."""

    field: Field

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def label(self) -> str:
        return str(gettext(self.field.description.label))

    @property
    def help(self) -> str:
        """The help text: the help sentence, the allowed values, the meaning of an empty field, and the
        default."""
        sentences = [str(gettext(self.field.description.help)), self._limits()]
        if self.field.description.none:
            sentences.append(
                str(gettext("Empty: %(meaning)s.", meaning=gettext(self.field.description.none)))
            )
        value = getattr(_DEFAULTS, self.name)
        default = span_text(value) if self.units and value is not None else self.write(_DEFAULTS)
        if default and self.control not in ("tick", "choice"):
            sentences.append(str(gettext("Default: %(value)s.", value=default)))
        return " ".join(filter(None, sentences))

    @property
    def control(self) -> str:
        """The kind of input."""
        match self.field.kind:
            case Boolean():
                return "tick"
            case OneOf():
                return "choice"
            case Form():
                return "code"
            case Line() | Alerts():
                return "line"
            case Text():
                return "area"
        return "short"

    @property
    def choices(self) -> dict[str, str]:
        kind = self.field.kind
        labels = kind.choices if isinstance(kind, OneOf) else {}
        return {choice: str(gettext(meaning)) for choice, meaning in labels.items()}

    @property
    def longest(self) -> int | None:
        """The maximum length of a line. Longer text is refused, not truncated, so that nothing is lost."""
        return self.field.kind.max_length if isinstance(self.field.kind, Line) else None

    @property
    def is_whole(self) -> bool:
        """Whether a phone should offer only digits. The input is still a text input: a number input sends an
        empty text if its content is no number, and here an empty text may mean "no limit"."""
        return isinstance(self.field.kind, Integer)

    @property
    def units(self) -> dict[str, str]:
        """The units on offer for a duration; empty for other fields."""
        return {unit: str(gettext(unit)) for unit in UNITS} if isinstance(self.field.kind, Seconds) else {}

    @property
    def unit(self) -> str:
        """The unit shown next to a number's input."""
        return str(gettext(self.field.kind.unit)) if isinstance(self.field.kind, Integer) else ""

    def split(self, text: str) -> tuple[str, str]:
        """Split a text into number and unit for the page. Other texts stay whole."""
        match = _SPAN.fullmatch(text) if self.units else None
        return (match[1], {"m": "min"}.get(match[2], match[2]) or "s") if match else (text, "s")

    def join(self, text: str, unit: str) -> str:
        """Join an input's text and its unit. A text with its own units, like 1 h 30 min, stays as it is."""
        return f"{text.strip()} {unit}" if unit in self.units and _PLAIN_NUMBER.fullmatch(text) else text

    def write(self, policy: Policy) -> str:
        """The policy field's value as text."""
        value = getattr(policy, self.name)
        if value is None:
            return ""
        match self.field.kind:
            case Form():
                return json.dumps(value, ensure_ascii=False, indent=2)
            case Seconds():
                return " ".join(number_and_unit(value))
            case Boolean():
                return "yes" if value else ""
            case Bands() | Alerts():
                return " ".join(map(str, value))
        return str(value)

    def read(self, text: str) -> Json:
        """Parse a text. Raises Invalid."""
        if self.control == "area":
            return text
        text = text.strip()
        if not text and self.field.description.none:
            return None
        match self.field.kind:
            case Boolean():
                return text == "yes"
            case Integer():
                return read_number(text, self.name, whole=True)
            case Seconds():
                return _seconds(self.name, text)
            case Bands():
                return tuple(
                    read_number(part, self.name, whole=True) for part in text.replace(",", " ").split()
                )
            case Form():
                return validation.load_json(text, self.name)
            case Alerts() as kind:
                return kind.parse(text)
        return text

    def _limits(self) -> str:
        match self.field.kind:
            case Integer(minimum, maximum, unit):
                ends = {"least": format_decimal(minimum), "most": format_decimal(maximum)}
                return str(gettext("%(least)s to %(most)s %(unit)s.", unit=gettext(unit), **ends))
            case Seconds(minimum, maximum):
                ends = {"least": span_text(minimum), "most": span_text(maximum)}
                return str(gettext("%(least)s to %(most)s.", **ends))
            case Bands(minimum, maximum):
                ends = {"least": format_decimal(minimum), "most": format_decimal(maximum)}
                return str(gettext("%(least)s to %(most)s, the first no larger than the second.", **ends))
            case Text(longest):
                return str(gettext("At most %(count)s characters.", count=format_decimal(longest)))
            case Alerts(measures):
                meanings = "; ".join(f"{name}: {gettext(meaning)}" for name, meaning in measures.items())
                ends = {"least": format_decimal(0), "most": format_decimal(MAX_ALERT_LIMIT)}
                return f"{meanings}. " + str(gettext("%(least)s to %(most)s each.", **ends))
        return ""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of the page's fields."""

    id: str
    settings: tuple[Setting, ...]

    @property
    def title(self) -> str:
        return str(gettext(TITLES[self.id]))


SETTINGS = tuple(Setting(field) for field in FIELDS.values())
GROUPS = tuple(
    Group(id, tuple(one for one in SETTINGS if one.field.description.group == id)) for id in TITLES
)


def texts_of(policy: Policy) -> dict[str, str]:
    """The text of each field of a policy."""
    return {one.name: one.write(policy) for one in SETTINGS}


def read_all(typed: Mapping[str, str]) -> tuple[dict[str, Json], dict[str, str]]:
    """The values, and the errors by field."""
    values: dict[str, Json] = {}
    errors: dict[str, str] = {}
    for setting in SETTINGS:
        if setting.name not in typed:
            continue
        try:
            values[setting.name] = setting.read(typed[setting.name])
        except Invalid as error:
            errors[setting.name] = error.limit
    return values, errors


def number_and_unit(seconds: float) -> tuple[str, str]:
    """A duration as a whole number of the largest possible unit, such as 90 and min."""
    unit = next((unit for unit, size in UNITS.items() if seconds and seconds % size == 0), "s")
    return f"{seconds / UNITS[unit]:f}".rstrip("0").rstrip("."), unit


def span_text(seconds: float) -> str:
    """A duration in full, as ``read`` accepts it: ``1 h 30 min``."""
    if seconds != int(seconds):
        return f"{number_text(seconds)} s"
    parts: list[str] = []
    remaining = int(seconds)
    for unit, size in UNITS.items():
        count, remaining = divmod(remaining, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 s"


def _seconds(name: str, text: str) -> Json:
    """Parse a duration such as ``90``, ``1 h 30 min`` or ``1.5 h`` into seconds."""
    parts = list(_SPAN.finditer(text))
    is_whole = "".join(part.group() for part in parts) == text
    if not parts or not is_whole or (len(parts) > 1 and not all(part[2] for part in parts)):
        raise Invalid(name, str(gettext("a time, such as 90 s, 5 min, 1 h 30 min or 2 d")))
    sizes = {**UNITS, "m": 60}
    seconds = round(sum(read_number(part[1], name) * sizes[part[2] or "s"] for part in parts), 6)
    return int(seconds) if seconds == int(seconds) else seconds
