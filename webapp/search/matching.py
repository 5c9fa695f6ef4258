"""Parses and matches a search box's text: words, and conditions on fields of the payload and answers.

    refund "two words" about: delivery rating <= 2 "What is it about?": Refund

A word must occur in the id, the payload or an answer. ``name:value`` matches if a field of that name has that
value, or a list that contains it; ``<``, ``<=``, ``>`` and ``>=`` compare numbers. A question may be named by
its title, and a choice by its label. Case is ignored, and all parts must match.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from leaseq import Invalid, Item, Json
from leaseq.webapp.forms import Field

LONGEST = 500  # characters
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NAME = r'(?:"([^"]+)"|([^\s":<>=≤≥]+))'
_PART = re.compile(rf'(?:{_NAME}(?:(:)\s*|\s*(<=|>=|≤|≥|<|>)\s*))?(?:"([^"]*)"|(\S+))')
_PLAIN = {"≤": "<=", "≥": ">="}
_SYMBOLS = {sign: symbol for symbol, sign in _PLAIN.items()}


@dataclass(frozen=True, slots=True)
class Part:
    """A word if ``name`` is empty; otherwise a condition on fields of that name."""

    name: str
    sign: str
    value: str
    title: str = ""  # of the question
    label: str = ""  # of the choice

    @property
    def phrase(self) -> str:
        """The part in words, with the form's titles and labels."""
        value = self.label or self.value
        if not self.name:
            return value
        name = self.title or self.name
        if self.sign != ":":
            return f"{name} {_SYMBOLS.get(self.sign, self.sign)} {value}"
        return f"{name} {value}" if name.endswith("?") else f"{name}: {value}"

    def __str__(self) -> str:
        return f"{_quoted(self.name)}{self.sign}{_quoted(self.value)}"

    def fits(self, item: Item) -> bool:
        if not self.name:
            word = self.value.casefold()
            return any(word in text for text in _texts(item))
        return any(self._holds(value) for value in _values(item, self.name))

    def _holds(self, value: Json) -> bool:
        if isinstance(value, list):
            return any(self._holds(one) for one in value)
        if self.sign == ":":
            return _text(value) == self.value.casefold()
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and _COMPARE[self.sign](float(value), float(self.value))


def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of a search box's text. Raises Invalid."""
    if len(text) > LONGEST:
        raise Invalid("find", f"at most {LONGEST} characters; it has {len(text)}")
    return tuple(_parts(text))


def _parts(text: str) -> Iterator[Part]:
    for title, plain_name, colon, comparison, quoted_value, plain_value in _PART.findall(text):
        name, sign, value = (
            title or plain_name,
            colon or _PLAIN.get(comparison, comparison),
            quoted_value or plain_value,
        )
        if sign == ":" and plain_value.startswith("//"):  # a link is a word
            yield Part("", "", f"{name}:{value}")
            continue
        if sign in _COMPARE and value == "=":  # a sign without a value
            raise Invalid("find", f"a number after {name}{sign}=")
        if sign in _COMPARE and _number(value) is None:
            raise Invalid("find", f"a number after {name}{sign}, not {value!r}")
        yield Part(name, sign, value)


def in_terms_of(parts: tuple[Part, ...], questions: Sequence[Field]) -> tuple[Part, ...]:
    """The parts with titles of questions replaced by field names, and labels of choices by values."""
    fields_by_name = {one.label.casefold(): one for one in questions}
    fields_by_name |= {one.name.casefold(): one for one in questions}
    return tuple(_in_terms_of(part, fields_by_name.get(part.name.casefold())) for part in parts)


def _in_terms_of(part: Part, question: Field | None) -> Part:
    if question is None:
        return part
    if part.sign != ":":
        return Part(question.name, part.sign, part.value, question.label)
    folded_value = part.value.casefold()
    choices = (one for one in question.choices if folded_value in (one.label.casefold(), _text(one.value)))
    choice = next(choices, None)
    if choice is None:
        return Part(question.name, part.sign, part.value, question.label)
    return Part(question.name, part.sign, _plain(choice.value), question.label, choice.label)


def condition(name: str, text: str) -> Part:
    """A condition on a field. ``text`` is a comparison sign and a number, or a value. Raises Invalid."""
    sign = next((sign for sign in ("<=", ">=", "<", ">") if text.startswith(sign)), "")
    value = text.removeprefix(sign).strip()
    if sign and _number(value) is None:
        raise Invalid("find", f"a number after {name}{sign}, not {value!r}")
    return Part(name, sign or ":", value)


def words_of(parts: tuple[Part, ...]) -> str:
    """The search text with these parts."""
    return " ".join(map(str, parts))


def _quoted(text: str) -> str:
    return f'"{text}"' if re.search(r"\s", text) else text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _texts(item: Item) -> Iterator[str]:
    yield item.id.casefold()
    for data in (item.payload, *(answer.result for answer in item.answers)):
        yield json.dumps(data, ensure_ascii=False).casefold()


def _values(item: Item, name: str) -> Iterator[Json]:
    """The values of a field, given by its dotted name, in the payload and in each answer."""
    for data in (item.payload, *(answer.result for answer in item.answers)):
        value = at_path(data, name.split("."))
        if value is not None:
            yield value


def at_path(data: Json, path: list[str]) -> Any:
    """The value at a path, ignoring the case of names; None if there is none."""
    for step in path:
        if not isinstance(data, dict):
            return None
        matching_names = (name for name in data if name.casefold() == step.casefold())
        data = data.get(step if step in data else next(matching_names, step))
    return data


def _text(value: Json) -> str:
    return _plain(value).casefold()


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
