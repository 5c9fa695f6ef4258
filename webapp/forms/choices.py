"""The choices of a field: their labels, the texts that the page submits, and which a typed text means."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from leaseq import Json
from leaseq.webapp.serving.time_slices import in_slices

MANY = 15  # more choices than this are found by typing, not all shown
MAX_LEVELS = 20  # of a tree of choices

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice:
    """One member of an enum, as the page shows it."""

    value: Json
    text: str  # as the page submits it
    label: str
    key: str | None = None  # the key that picks it
    title: str = ""  # in the form; several may have the same one


@dataclass(frozen=True, slots=True)
class TreeOption:
    """A place in a tree of choices: a choice, or only the name of a level."""

    depth: int
    name: str
    choice: Choice | None


def tree_of(choices: Iterable[Choice], separator: str) -> list[TreeOption]:
    """The choices as a tree by the paths that are their labels, such as ``Animals / Dogs``, parents first.
    Each level has the order in which its names come first. What is below MAX_LEVELS is one name."""
    root: dict[str, Any] = {"choices": [], "children": {}}
    for choice in choices:
        node = root
        for name in choice.label.split(separator, MAX_LEVELS - 1):
            node = node["children"].setdefault(name.strip(), {"choices": [], "children": {}})
        node["choices"].append(choice)
    return list(_flattened(root["children"], 0))


def _flattened(nodes: Mapping[str, Any], depth: int) -> Iterator[TreeOption]:
    for name, node in nodes.items():
        for choice in node["choices"] or [None]:
            yield TreeOption(depth, name, choice)
        yield from _flattened(node["children"], depth + 1)


def labels_and_texts(members: Sequence[tuple[Json, str]], *, is_typed: bool) -> tuple[list[str], list[str]]:
    """The label and the submitted text of each member; both differ from those of all others. A choice that is
    ``typed`` is submitted as its label, in one line."""
    values = [value for value, _label in members]
    titles = [" ".join(label.split()) if is_typed else label for _value, label in members]
    pairs = list(zip(values, titles, strict=True))
    labels = _distinct(titles, [_with_value(title, value) for value, title in pairs])
    labels = _distinct(labels, [f"{title} ({json_text(value)})" for value, title in pairs])
    if not _are_distinct(labels):
        labels = [json.dumps(value) for value in values]
    texts = labels if is_typed else [_submitted(value) for value in values]
    return labels, texts if _are_distinct(texts) else [json.dumps(value) for value in values]


def _distinct(texts: Sequence[str], longer: Sequence[str]) -> list[str]:
    """The texts; in place of each that occurs several times, the longer one."""
    counts = Counter(texts)
    return [text if counts[text] == 1 else more for text, more in zip(texts, longer, strict=True)]


def _are_distinct(texts: Sequence[str]) -> bool:
    return len(set(texts)) == len(texts)


def _with_value(title: str, value: Json) -> str:
    is_plain = isinstance(value, str) and value.isprintable() and value != title
    return f"{title} ({value if is_plain else json_text(value)})"


def _submitted(value: Json) -> str:
    """A text that a browser submits unchanged: it changes line breaks, and an empty text is no answer."""
    return value if isinstance(value, str) and value.strip() and value.isprintable() else json.dumps(value)


def json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def plain_text(value: Json) -> str:
    """A text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json_text(value)


def meant(choices: Iterable[Choice], text: str) -> list[Choice]:
    """The choices that a typed text may mean: the one with exactly this label, else all that have it as their
    label or value except for case, spaces and the width of letters."""
    choices = list(choices)
    exact = [choice for choice in choices if choice.text == text]
    key = folded(text)
    return exact or [
        choice
        for choice in choices
        if key in map(folded, (choice.text, choice.title, plain_text(choice.value)))
    ]


def folded(text: str) -> str:
    """The text in the form in which it is compared tolerantly."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def find_named(name: str, candidates: Iterable[T], *names_of: Callable[[T], str]) -> T | None:
    """The candidate with exactly this name, else the only one with a name that differs in case, spaces or the
    width of letters alone. Of several kinds of names, the first is looked at first."""
    candidates = list(candidates)
    for name_of in names_of:
        for candidate in in_slices(candidates):
            if name_of(candidate) == name:
                return candidate
    key = folded(name)
    similar = [
        candidate
        for candidate in in_slices(candidates)
        if any(folded(name_of(candidate)) == key for name_of in names_of)
    ]
    return similar[0] if len(similar) == 1 else None


DIGITS = "123456789"
ROWS = (DIGITS, "qweryip", "sdfj", "zxcvm")
"""Keys for the first field with choices, the second and so on. They exclude the letters that the page itself
uses: A B G H K L N T U on the work page, O to open a picture."""


class Shortcuts:
    """The keys that the form binds. A field with choices to which it binds none has a keyboard row, without
    the keys that are bound."""

    def __init__(self, bindings: Json) -> None:
        self._bindings: Mapping[str, Json] = bindings if isinstance(bindings, dict) else {}
        self._rows = ["".join(key for key in row if key not in self._bindings) for row in ROWS]

    def assign(self, field: str, values: Sequence[Json], *, with_row: bool) -> list[str | None]:
        """The key of each choice of a field. ``with_row``: it gets the next row of keys if the form binds
        none to it."""
        bound = [self._key(field, value) for value in values]
        if any(bound) or not with_row:
            return bound
        if is_scale(values):
            return self._digits(values)
        row = self._rows.pop(0) if self._rows else ""
        keys: list[str | None] = list(row[: len(values)])
        return keys + [None] * (len(values) - len(keys))

    def _digits(self, values: Sequence[Json]) -> list[str | None]:
        """The key 3 selects 3, if no other field has these keys. In a focused scale, digits always do."""
        if self._rows[:1] != [DIGITS] or 10 in values:
            return [None] * len(values)
        self._rows.pop(0)
        return [str(value) for value in values]

    def _key(self, field: str, value: Json) -> str | None:
        for key, choice in self._bindings.items():
            chosen = choice.get(field, ...) if isinstance(choice, dict) else choice
            if is_same_value(choice, value) or is_same_value(chosen, value):
                return key
        return None


def is_scale(values: Sequence[Json]) -> bool:
    """Whether all values are whole numbers from 0 to 10."""
    return all(type(value) is int and 0 <= value <= 10 for value in values)


def is_same_value(value: Json, other: Json) -> bool:
    return type(value) is type(other) and bool(value == other)
