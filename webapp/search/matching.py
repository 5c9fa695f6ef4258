"""Parses and matches a search box's text: words, and conditions on fields of the payload and answers.

    refund "two words" about: delivery rating <= 2 "What is it about?": Refund

A word must occur in the id, the payload or an answer. ``name:value`` matches if a field of that name has that
value, or a list that contains it; ``<``, ``<=``, ``>`` and ``>=`` compare numbers. A question may be named by
its title, and a choice by its label. Case is ignored,
unless it tells names or choices apart. All parts must match.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from leaseq import Invalid, Item, Json, validation
from leaseq.webapp.forms.choices import Choice, find_named, folded, json_text, plain_text
from leaseq.webapp.forms.fields import Field
from leaseq.webapp.i18n import Ambiguous, read_number

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
    number: float | None = None  # that the value means
    title: str = ""  # of the question
    choice: Choice | None = None  # that the value means
    is_exact: bool = False  # whether case tells the choice from another one
    is_exact_name: bool = False  # whether case tells the question from another one

    @property
    def phrase(self) -> str:
        """The part in words, with the form's titles and labels."""
        value = self.choice.label if self.choice else self.value
        if not self.name:
            return value
        name = self.title or self.name
        if self.sign != ":":
            return f"{name} {_SYMBOLS.get(self.sign, self.sign)} {value}"
        return f"{name} {value}" if name.endswith("?") else f"{name}: {value}"

    def __str__(self) -> str:
        return f"{_quoted(self.name)}{self.sign}{_quoted(self.value)}" if self.name else _quoted(self.value)

    def fits(self, item: Item) -> bool:
        if not self.name:
            word = self.value.casefold()
            return any(word in text for text in _texts(item))
        return any(self._holds(value) for value in _values(item, self.name, exact=self.is_exact_name))

    def _holds(self, value: Json) -> bool:
        if isinstance(value, list):
            return any(self._holds(element) for element in value)
        if self.choice is not None and self.is_exact:
            return json_text(value) == json_text(self.choice.value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if self.sign == ":":
            return _text(value) == self.value.casefold() or (is_number and value == self.number)
        return is_number and self.number is not None and _COMPARE[self.sign](float(value), self.number)


def json_number(text: str, field: str) -> float:
    """The number in a program's search. Raises Invalid."""
    number = validation.load_json(text, field)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise Invalid(field, "format", what="number")
    return number


ReadNumber: TypeAlias = Callable[[str, str], float]


def parts_of(text: str, read: ReadNumber = json_number) -> tuple[Part, ...]:
    """The parts of a search box's text. Raises Invalid."""
    if len(text) > LONGEST:
        raise Invalid("find", "maximum", what="search", maximum=LONGEST, count=len(text))
    return tuple(_parts(text, read))


def _parts(text: str, read: ReadNumber) -> Iterator[Part]:
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
            raise Invalid("find", "compared_number", comparison=f"{name}{sign}=")
        yield _condition(name, sign, value, read)


def in_terms_of(parts: tuple[Part, ...], questions: Sequence[Field]) -> tuple[Part, ...]:
    """The parts with titles of questions replaced by field names, and labels of choices by values."""
    return tuple(_in_terms_of(part, questions) if part.name else part for part in parts)


def _in_terms_of(part: Part, questions: Sequence[Field]) -> Part:
    question = find_named(
        part.name, questions, lambda question: question.name, lambda question: question.label
    )
    if question is None:
        return part
    is_exact_name = [folded(question.name) for question in questions].count(folded(question.name)) > 1
    part = replace(part, name=question.name, title=question.label, is_exact_name=is_exact_name)
    if part.sign != ":":
        return part
    choice = find_named(
        part.value,
        question.choices,
        lambda choice: choice.text,
        lambda choice: plain_text(choice.value),
        lambda choice: choice.label,
    )
    if choice is None:
        return part
    is_exact = [_text(choice.value) for choice in question.choices].count(_text(choice.value)) > 1
    return replace(part, value=plain_text(choice.value), choice=choice, is_exact=is_exact)


def condition(name: str, text: str, read: ReadNumber = read_number) -> Part:
    """A condition on a field. ``text`` is a comparison sign and a number, or a value. Raises Invalid."""
    sign = next((sign for sign in ("<=", ">=", "<", ">") if text.startswith(sign)), "")
    return _condition(name, sign or ":", text.removeprefix(sign).strip(), read)


def _condition(name: str, sign: str, value: str, read: ReadNumber) -> Part:
    try:
        return Part(name, sign, value, read(value, "find"))
    except Ambiguous:
        if sign in _COMPARE:
            raise
    except Invalid:
        if sign in _COMPARE:
            raise Invalid("find", "compared_number", comparison=f"{name}{sign}", value=value) from None
    return Part(name, sign, value)


def words_of(parts: tuple[Part, ...]) -> str:
    """The search text with these parts."""
    return " ".join(map(str, parts))


def _quoted(text: str) -> str:
    return f'"{text}"' if not text or re.search(r"\s", text) else text


def _texts(item: Item) -> Iterator[str]:
    yield item.id.casefold()
    for data in (item.payload, *(answer.result for answer in item.answers)):
        yield json.dumps(data, ensure_ascii=False).casefold()


def _values(item: Item, name: str, *, exact: bool) -> Iterator[Json]:
    """The values of a field, given by its dotted name, in the payload and in each answer."""
    for data in (item.payload, *(answer.result for answer in item.answers)):
        value = at_path(data, name.split("."), exact=exact)
        if value is not None:
            yield value


def at_path(data: Json, path: list[str], *, exact: bool = True) -> Any:
    """The value at a path; None if there is none. If not ``exact``, the case of a name is ignored, unless it
    tells the name from another."""
    for step in path:
        if not isinstance(data, dict):
            return None
        name = step if exact or step in data else find_named(step, data, str)
        data = data.get(name) if name is not None else None
    return data


def _text(value: Json) -> str:
    return plain_text(value).casefold()
