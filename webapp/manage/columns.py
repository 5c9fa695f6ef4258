"""The columns of an item list: the payload and answer fields that a manager chose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaseq import Item, Json
from leaseq.webapp.forms import fields_of, titles_of
from leaseq.webapp.item_title import is_titled_by, item_title
from leaseq.webapp.rendering.filters import plain
from leaseq.webapp.search.matching import at_path

ANSWER = "answer."  # prefix of the names of answer columns
MAX_OFFERED = 40
SHOWN_ANSWERS = 2  # default columns of a list of finished items
SUMMARY_LENGTH = 120  # characters of a value that a row shows
SUMMARY_FIELDS = 9  # fields of a payload


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    title: str

    def text(self, item: Item) -> str:
        """The item's text in this column; for several answers, each distinct one."""
        if not self.name.startswith(ANSWER):
            return _value_text(at_path(item.payload, self.name.split(".")))
        path = self.name.removeprefix(ANSWER).split(".")
        texts = (_value_text(at_path(answer.result, path)) for answer in item.answers)
        return " / ".join(dict.fromkeys(filter(None, texts)))


def columns_of(form: Json, names: Sequence[str], state: str) -> list[Column]:
    """The columns with these names; without names, the first answers for a list of finished items."""
    if not names and state == "finished" and titles_of(form):
        names = [ANSWER + field.name for field in fields_of(form)[:SHOWN_ANSWERS]]
    titles = _titles(form)
    return [Column(name, titles.get(name, name.removeprefix(ANSWER))) for name in names]


def offered_columns(form: Json, items: Iterable[Item], column_names: Sequence[str]) -> list[Column]:
    """The columns on offer: the current ones, the fields of these items, and the form's questions."""
    names = dict.fromkeys(column_names)
    for item in items:
        names |= dict.fromkeys(item.payload if isinstance(item.payload, dict) else ())
    names |= {ANSWER + name: None for name in titles_of(form)}
    titles = _titles(form)
    return [Column(name, titles.get(name, name)) for name in list(names)[:MAX_OFFERED]]


def payload_summary(payload: Json, title: str = "") -> str:
    """The beginning of a payload in one line: its fields without JSON punctuation, except the one that is
    the title."""
    if isinstance(payload, dict):
        fields = [*payload.items()][:SUMMARY_FIELDS]
        rest = (
            f"{name}: {_shorten(_line(value))}" for name, value in fields if not is_titled_by(value, title)
        )
        return _shorten(" · ".join(rest))
    return "" if is_titled_by(payload, title) else _shorten(_line(payload))


def payload_summaries(items: Iterable[Item]) -> dict[str, str]:
    """By id, the summary of each item's payload; empty if no payload has more than its title."""
    texts = {item.id: payload_summary(item.payload, item_title(item.payload, item.id)) for item in items}
    return texts if any(texts.values()) else {}


def _titles(form: Json) -> dict[str, str]:
    """By column, the titles of the form's questions and shown fields."""
    entries = form.get("show") if isinstance(form, dict) else None
    labels = {
        entry["field"]: entry.get("label") or entry["field"]
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and "field" in entry
    }
    return {**labels, **{ANSWER + name: title for name, title in titles_of(form).items()}}


def _value_text(value: Json) -> str:
    return "" if value is None else _shorten(_line(value))


def _line(value: Json) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if isinstance(value, str | bool):
        return plain(value)
    return json.dumps(value, ensure_ascii=False)


def _shorten(text: str) -> str:
    return text if len(text) <= SUMMARY_LENGTH else f"{text[:SUMMARY_LENGTH]}…"
