"""Field types of the policy: bounds, unit, help sentence, and how the server stores each.

`leaseq.policy` has the fields. Validation, REST, the command line, the settings page and docs/policy.md are
made from them.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar, get_type_hints

from leaseq import validation
from leaseq.errors import Invalid
from leaseq.models import Json


@dataclass(frozen=True, slots=True)
class Kind(ABC):
    """The type of a field: its values and their bounds."""

    @abstractmethod
    def check(self, value: Any, name: str) -> Any:
        """The value as the policy stores it. Raises Invalid."""

    def check_new(self, value: Any, name: str) -> Any:
        """Like `check`, for a new value. Values stored before a rule was added stay readable."""
        return self.check(value, name)

    def dump(self, value: Any) -> str:
        """The value as the server stores it."""
        return json.dumps(value, ensure_ascii=False)

    def load(self, text: str) -> Any:
        return json.loads(text)

    @property
    def limits(self) -> str:
        """The allowed values, in a few words."""
        return ""


@dataclass(frozen=True, slots=True)
class Integer(Kind):
    """A whole number. ``unit``: what it counts."""

    minimum: int
    maximum: int
    unit: str = ""

    def check(self, value: Any, name: str) -> int:
        return validation.integer(value, name, self.minimum, self.maximum)

    @property
    def limits(self) -> str:
        return f"{self.minimum:,} to {self.maximum:,} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Seconds(Kind):
    """A duration in seconds."""

    minimum: float
    maximum: float

    def check(self, value: Any, name: str) -> float:
        return round(
            validation.number(value, name, self.minimum, self.maximum), 6
        )  # the server counts microseconds

    @property
    def limits(self) -> str:
        return f"{self.minimum:,} to {self.maximum:,} seconds"


@dataclass(frozen=True, slots=True)
class Bands(Kind):
    """Two priorities, the first no larger than the second."""

    minimum: int
    maximum: int

    def check(self, value: Any, name: str) -> tuple[int, int]:
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise Invalid(name, "format", what="bands", value=value)
        low, high = (validation.integer(v, name, self.minimum, self.maximum) for v in value)
        if low > high:
            raise Invalid(name, "format", what="bands", value=value)
        return low, high

    def dump(self, value: Any) -> str:
        return ",".join(map(str, value))

    def load(self, text: str) -> list[int]:
        return [int(part) for part in text.split(",")]

    @property
    def limits(self) -> str:
        return f"{self.minimum:,} to {self.maximum:,}, the first no larger than the second"


@dataclass(frozen=True, slots=True)
class Boolean(Kind):
    def check(self, value: Any, name: str) -> bool:
        return validation.boolean(value, name)


@dataclass(frozen=True, slots=True)
class OneOf(Kind):
    """One of a few words. ``choices`` explains each of them."""

    choices: Mapping[str, str]

    def check(self, value: Any, name: str) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise Invalid(name, "one_of", choices=list(self.choices), value=value)
        return value

    @property
    def limits(self) -> str:
        return "; ".join(f"{choice}: {meaning}" for choice, meaning in self.choices.items())


@dataclass(frozen=True, slots=True)
class Text(Kind):
    """Text of several lines."""

    max_length: int

    def check(self, value: Any, name: str) -> str:
        return validation.text(value, name, self.max_length)

    @property
    def limits(self) -> str:
        return f"At most {self.max_length:,} characters"


@dataclass(frozen=True, slots=True)
class Line(Text):
    """A one-line name that people read."""

    def check_new(self, value: Any, name: str) -> str:
        return validation.label(value, name, self.max_length)


@dataclass(frozen=True, slots=True)
class Form(Kind):
    """A form as JSON: `leaseq.form.check_form` checks it."""

    def check(self, value: Json, name: str) -> Json:  # noqa: ARG002
        return value

    @property
    def limits(self) -> str:
        return "As JSON"


MAX_ALERT_LIMIT = 999_999_999
_LIMIT = "(?:0|[1-9][0-9]{0,8})"  # 0 to MAX_ALERT_LIMIT


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that an alert rule watches. ``label``: its name on the settings page; ``meaning``: with the
    unit that rules name it in. ``is_time``: it is a number of seconds."""

    label: str
    meaning: str
    is_time: bool = True


@dataclass(frozen=True, slots=True)
class Alerts(Kind):
    """Rules such as ``waiting>500``: a measure, and the limit above which it raises an alert. At most one for
    each measure, stored in the order of ``measures``."""

    measures: Mapping[str, Measure]

    def check(self, value: Any, name: str) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise Invalid(name, "format", what="alerts", value=value)
        limits: dict[str, int] = {}
        for rule in value:
            measure, limit = self._parsed(rule, name)
            if measure in limits:
                raise Invalid(name, "one_alert", measure=measure)
            limits[measure] = limit
        return tuple(f"{measure}>{limits[measure]}" for measure in self.measures if measure in limits)

    def _parsed(self, rule: Any, name: str) -> tuple[str, int]:
        measure, _, digits = rule.partition(">") if isinstance(rule, str) else ("", "", "")
        match = re.fullmatch(_LIMIT, digits)
        if measure not in self.measures or match is None:
            raise Invalid(
                name, "format", what="alert", choices=list(self.measures), maximum=MAX_ALERT_LIMIT, value=rule
            )
        return measure, int(digits)

    def parse(self, text: str) -> list[str]:
        """The rules that a person typed, separated by spaces or commas, perhaps with spaces around ``>``."""
        return re.sub(r"\s*>\s*", ">", text).replace(",", " ").split()

    @property
    def pattern(self) -> str:
        """A regular expression that rules match, for JSON Schema."""
        return f"^({'|'.join(self.measures)})>{_LIMIT}$"

    @property
    def limits(self) -> str:
        meanings = "; ".join(f"{name}: {measure.meaning}" for name, measure in self.measures.items())
        return f"Rules such as waiting>500 oldest>3600. {meanings}. 0 to {MAX_ALERT_LIMIT:,} each"


T = TypeVar("T")
Storage = Literal["status", "rule", "text"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the policy. ``storage``: in the queue's status, as one of its rules, or as JSON in a field
    of the ledger."""

    name: str
    type: Any
    default: Any
    kind: Kind
    group: str  # on the settings page
    label: str
    help: str  # one sentence
    none: str = ""  # what None means, if the field may be None
    storage: Storage = "rule"

    def check(self, value: Any, *, new: bool = False) -> Any:
        """The value as the policy stores it. Raises Invalid with the field's name."""
        if value is None and self.none:
            return None
        return (self.kind.check_new if new else self.kind.check)(value, self.name)

    def dump(self, value: Any) -> str:
        """The value as the server stores it. None is '-' in a rule, and null in a field stored as JSON."""
        return "-" if value is None and self.storage == "rule" else self.kind.dump(value)

    @property
    def stored_default(self) -> str:
        """The default as the server stores it."""
        return self.dump(self.default)

    def load(self, text: str) -> Any:
        return None if text == "-" and self.storage == "rule" else self.kind.load(text)

    def explain(self, none: str, *, limits: bool = True) -> str:
        """The help, the allowed values, and what None means; ``none`` is the reader's word for None."""
        text = self.help
        if limits and self.kind.limits:
            text += f" {self.kind.limits}."
        if self.none:
            text += f" {none}: {self.none}."
        return text


def described(
    default: T, kind: Kind, group: str, label: str, help: str, *, none: str = "", storage: Storage = "rule"
) -> T:
    """A field of the policy's dataclass."""
    about = {"kind": kind, "group": group, "label": label, "help": help, "none": none, "storage": storage}
    return field(default=default, metadata=about)


def fields_of(policy: type[Any]) -> dict[str, Field]:
    """The fields of a dataclass, each made by `described`."""
    types = get_type_hints(policy)
    return {
        made.name: Field(made.name, types[made.name], made.default, **made.metadata)
        for made in fields(policy)
    }
