"""A mutant: one small change in one file, made by an operator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from typing import NamedTuple

EQUIVALENT_MARK = re.compile(r"(?:#|--) equivalent mutant: (\w+(?::\d+)?): (.+)")


class Edit(NamedTuple):
    """Replaces the characters from ``start`` to ``end`` by ``new``."""

    operator: str
    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    file: str
    edit: Edit
    line: int
    ordinal: int  # among the mutants of one operator on one line, from 1

    @property
    def id(self) -> str:
        """``webapp/app.py:12:negate``, and ``webapp/app.py:12:negate:2`` for the second one."""
        suffix = f":{self.ordinal}" if self.ordinal > 1 else ""
        return f"{self.file}:{self.line}:{self.edit.operator}{suffix}"

    def lines_near(self, text: str) -> str:
        """The lines around the change."""
        return "\n".join(text.splitlines()[max(0, self.line - 15) : self.line + 15])

    def apply(self, text: str) -> str:
        return text[: self.edit.start] + self.edit.new + text[self.edit.end :]

    def diff(self, text: str) -> str:
        lines = text.splitlines(), self.apply(text).splitlines()
        return "\n".join(list(unified_diff(*lines, lineterm="", n=1))[2:])


def mutants(file: str, text: str, edits: Iterable[Edit]) -> Iterator[Mutant]:
    """Mutants for the edits in the order of the file, without those marked as equivalent."""
    equivalent = set(_equivalent_mutants(text))
    counts: Counter[tuple[int, str]] = Counter()
    for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end, edit.operator, edit.new)):
        place = (text.count("\n", 0, edit.start) + 1, edit.operator)
        counts[place] += 1
        numbered_place = (place[0], f"{edit.operator}:{counts[place]}")
        if equivalent.isdisjoint({place, numbered_place}):
            yield Mutant(file, edit, place[0], counts[place])


def _equivalent_mutants(text: str) -> Iterator[tuple[int, str]]:
    """Line and operator of each ``# equivalent mutant: operator: reason``, which is at the end of the line
    that it is about, or alone in the line above. ``operator:2`` is the second one in that line."""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        match = EQUIVALENT_MARK.search(line)
        if match:
            yield target_line(lines, number), match[1]


def target_line(lines: list[str], number: int) -> int:
    """The line that a mark in this line is about: this one, or the next one with code."""
    while number < len(lines) and lines[number - 1].lstrip().startswith(("#", "--", "//", "{#")):
        number += 1
    return number
