"""Marked passages of a text: answers that are checked against the item's payload.

A question with ``"x-widget": "passages"`` and ``"x-text": "letter.body"`` asks for passages of the text at
that place of the payload: a list of objects with ``start``, ``end`` and, as its schema says, more. Both are
counted in code points of the text; ``end`` is the first after the passage. Passages may overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from leaseq.errors import Invalid, TooLarge
from leaseq.form import MAX_ERRORS, marked_texts, member_at, misfit
from leaseq.models import Json
from leaseq.validation import MAX_JSON_BYTES

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
                raise misfit(refusals)
    if refusals:
        raise misfit(refusals)


def _refusal(path: str, passage: Json, text: str) -> Invalid | None:
    place = _place(passage, text)
    if place is None:
        return Invalid(path, "answer", what="passage", maximum=len(text), value=_shown(passage))
    if "text" in passage and passage["text"] != text[slice(*place)]:
        return Invalid(path, "answer", what="words", start=place[0], end=place[1])
    return None


def with_words(form: Json, payload: Json, result: dict[str, Json]) -> dict[str, Json]:
    """The result with the words of each passage as its ``text``, if the form's schema has this member.
    Passages outside the text are unchanged. Raises TooLarge (field ``result``) if the words would make the
    result too large."""
    words: dict[str, Json] = {}
    length = 0
    for name, passages, text in _answers(form, payload, result):
        items = form["ask"]["properties"][name].get("items")
        properties = items.get("properties") if isinstance(items, dict) else None
        if text is None or not isinstance(properties, dict) or "text" not in properties:
            continue
        length += sum(end - start for start, end in _places(passages, text))
        if length > MAX_JSON_BYTES:  # before any of them is copied: many may have the whole text
            raise TooLarge("result", "maximum", what="json_bytes", maximum=MAX_JSON_BYTES, count=length)
        words[name] = [_with_text(passage, text) for passage in passages]
    return {**result, **words}


def _with_text(passage: Json, text: str) -> Json:
    place = _place(passage, text)
    return passage if place is None else {**passage, "text": text[slice(*place)]}


def _places(passages: Iterable[Json], text: str) -> Iterator[tuple[int, int]]:
    return filter(None, (_place(passage, text) for passage in passages))


def _answers(form: Json, payload: Json, result: Json) -> Iterator[tuple[str, list[Json], str | None]]:
    """The questions for passages that a result answers, each with its passages and the payload's text; None
    if the payload has no text there."""
    for name, path in marked_texts(form).items():
        passages = result.get(name) if isinstance(result, Mapping) else None
        text = member_at(payload, path)
        if isinstance(passages, list) and passages:
            yield name, passages, text if isinstance(text, str) else None


def _place(passage: Json, text: str) -> tuple[int, int] | None:
    """The start and the end of a passage; None if it is not one of the text."""
    if not isinstance(passage, Mapping):
        return None
    start, end = _whole(passage.get("start")), _whole(passage.get("end"))
    if start is None or end is None or not 0 <= start < end <= len(text):
        return None
    return start, end


def _whole(value: Json) -> int | None:
    """A whole number; 3.0 is one in JSON as well."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _shown(passage: Any) -> Json:
    if not isinstance(passage, Mapping):
        return passage
    return {name: passage[name] for name in ("start", "end") if name in passage}
