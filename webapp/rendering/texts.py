"""Texts to compare and to read line by line: the difference of two texts, and code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import accumulate, pairwise
from typing import Literal, TypeAlias

from leaseq import Json
from leaseq.webapp.serving.time_slices import end_slice_when_over

MAX_PIECES = 4_000
"""Words, or lines, that are compared of each text."""

MAX_STEPS = 2_000_000
"""Steps of a comparison, of about 50 ns. Some texts would take hours."""

MAX_LINES = 5_000
"""Lines of code that are numbered."""

Change: TypeAlias = Literal["same", "removed", "added"]

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])\w)+|\s+|[^\w\s]")
_DIRECTION_MARKS = {code: f"[U+{code:04X}]" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


@dataclass(frozen=True, slots=True)
class Difference:
    before: str
    after: str
    pieces: tuple[tuple[Change, str], ...] | None  # None: the texts are too long to compare

    @property
    def change_count(self) -> int:
        """The number of places in which the texts differ."""
        kinds = ["same", *(kind for kind, _text in self.pieces or ())]
        return sum(before == "same" != kind for before, kind in pairwise(kinds))


def difference_of(value: Json) -> Difference | None:
    """The difference of ``{"before": …, "after": …}``, by words, or by lines if there are too many words.

    None if the value has no such texts.
    """
    if not isinstance(value, dict):
        return None
    before, after = value.get("before"), value.get("after")
    if not isinstance(before, str) or not isinstance(after, str):
        return None
    pieces = _compare(_WORDS.findall(before), _WORDS.findall(after))
    if pieces is None:
        pieces = _compare(_lines(before), _lines(after))
        if pieces and "same" not in dict(pieces):  # two long lines, for instance
            pieces = None
    return Difference(before, after, pieces)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


class _TooLong(Exception):
    """A comparison takes more than MAX_STEPS."""


class _BoundedMatcher(SequenceMatcher[str]):
    """The standard matcher, which lets other requests run, and stops after MAX_STEPS."""

    b2j: dict[str, list[int]]  # the places of each piece

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)
        self._steps = 0
        self._steps_until = [0, *accumulate(1 + len(self.b2j.get(piece, ())) for piece in before)]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        end_slice_when_over()
        self._steps += self._steps_until[-1 if ahi is None else ahi] - self._steps_until[alo]
        if self._steps > MAX_STEPS:
            raise _TooLong
        return super().find_longest_match(alo, ahi, blo, bhi)


def _compare(before: Sequence[str], after: Sequence[str]) -> tuple[tuple[Change, str], ...] | None:
    """What is the same, removed and added, in order; None if the texts have too many pieces to compare."""
    if max(len(before), len(after)) > MAX_PIECES:
        return None
    try:
        operations = _BoundedMatcher(before, after).get_opcodes()
    except _TooLong:
        return None
    pieces: list[tuple[Change, str]] = []
    removed = added = ""
    for number, (operation, begin, end, begin_after, end_after) in enumerate(operations):
        old, new = "".join(before[begin:end]), "".join(after[begin_after:end_after])
        is_gap = operation == "equal" and old.isspace() and 0 < number < len(operations) - 1
        if operation != "equal" or (is_gap and "\n" not in old):  # a space between two changed words
            removed, added = removed + old, added + new
            continue
        pieces += [*_changed(removed, added), ("same", old)]
        removed = added = ""
    return (*pieces, *_changed(removed, added))


def _changed(removed: str, added: str) -> list[tuple[Change, str]]:
    changes: list[tuple[Change, str]] = [("removed", removed), ("added", added)]
    return [(kind, text) for kind, text in changes if text]


def code_lines(text: str) -> list[str] | None:
    """The lines of code, to be numbered; None if there are more than MAX_LINES.

    Marks that change the direction of writing are named, since they let code look like other code.
    """
    if text.count("\n") > MAX_LINES:
        return None
    return visible_marks(text).removesuffix("\n").split("\n")


def visible_marks(text: str) -> str:
    """Code with line feeds only, and with the names of marks that change the direction of writing."""
    return text.replace("\r\n", "\n").translate(_DIRECTION_MARKS)
