"""Marked passages of a text: answers that are checked against the item's payload.

A question with ``"x-widget": "passages"`` and ``"x-text": "letter.body"`` asks for passages of the text at
that place of the payload: a list of objects with ``start``, ``end`` and, as its schema says, more. Both are
counted in code points of the text; ``end`` is the first after the passage. Passages may overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from leaseq.errors import Invalid
from leaseq.form import MAX_ERRORS, marked_texts, member_at, misfit
from leaseq.models import Json

__all__ = ["check_passages", "with_words"]


def check_passages(form: Json, payload: Json, result: Json) -> None:
    """Raise Invalid (field ``result``, with ``errors`` by field) if a passage of a result is not one of the
    payload's text. A result that doesn't fit the form's schema must have been refused before."""
    refusals: dict[str, Invalid] = {}
    for name, passages, text in _answers(form, payload, result):
        if text is None:
            refusals[name] = Invalid(name, "answer", what="no_text", path=marked_texts(form)[name])
            continue
        for index, passage in enumerate(passages):
            path = f"{name}.{index}"
            refusal = _refusal(path, passage, text)
            if refusal is not None:
                refusals[path] = refusal
            if len(refusals) == MAX_ERRORS:
                break
    if refusals:
        raise misfit(refusals)


def _refusal(path: str, passage: Json, text: str) -> Invalid | None:
    place = _place(passage)
    if place is None or not 0 <= place[0] < place[1] <= len(text):
        return Invalid(path, "answer", what="passage", maximum=len(text), value=_shown(passage))
    if "text" in passage and passage["text"] != text[slice(*place)]:
        return Invalid(path, "answer", what="words", start=place[0], end=place[1])
    return None


def with_words(form: Json, payload: Json, result: dict[str, Json]) -> dict[str, Json]:
    """The result with the words of each passage as its ``text``, if the form's schema has this member.
    Passages outside the text are unchanged."""
    words: dict[str, Json] = {}
    for name, passages, text in _answers(form, payload, result):
        items = form["ask"]["properties"][name].get("items")
        properties = items.get("properties") if isinstance(items, dict) else None
        if text is not None and isinstance(properties, dict) and "text" in properties:
            words[name] = [_with_text(passage, text) for passage in passages]
    return {**result, **words}


def _with_text(passage: Json, text: str) -> Json:
    place = _place(passage)
    if place is None or not 0 <= place[0] < place[1] <= len(text):
        return passage
    return {**passage, "text": text[slice(*place)]}


def _answers(form: Json, payload: Json, result: Json) -> Iterator[tuple[str, list[Json], str | None]]:
    """The questions for passages that a result answers, each with its passages and the payload's text; None
    if the payload has no text there."""
    for name, path in marked_texts(form).items():
        passages = result.get(name) if isinstance(result, Mapping) else None
        text = member_at(payload, path)
        if isinstance(passages, list) and passages:
            yield name, passages, text if isinstance(text, str) else None


def _place(passage: Json) -> tuple[int, int] | None:
    if not isinstance(passage, Mapping):
        return None
    start, end = _whole(passage.get("start")), _whole(passage.get("end"))
    return None if start is None or end is None else (start, end)


def _whole(value: Json) -> int | None:
    """A whole number; 3.0 is one in JSON as well."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _shown(passage: Any) -> Json:
    if not isinstance(passage, Mapping):
        return passage
    return {name: passage[name] for name in ("start", "end") if name in passage}
