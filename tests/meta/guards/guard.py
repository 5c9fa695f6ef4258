"""A guard of the security table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.meta.guards.marks import guard_files, remove_guard
from tests.support.planted_faults import nodes


@dataclass(frozen=True, slots=True)
class Guard:
    """A piece of the product that refuses something and carries the mark ``guard: name``.

    To remove it, it is replaced by ``instead``. If that is None, a condition becomes false, a statement
    does nothing, and an argument is left out.
    """

    id: str
    tests: tuple[str, ...]  # names of test functions
    instead: str | None
    row: str = ""  # of the table in docs/security.md

    @property
    def file(self) -> str:
        (file,) = guard_files()[self.id]
        return file

    @property
    def nodes(self) -> list[str]:
        """Its tests as pytest's node ids."""
        return [node for test in self.tests for node in nodes(test)]

    def apply(self, text: str) -> str:
        """Return the text of its file without the guard."""
        return remove_guard(self.file, text, self.id, self.instead)


def guard(name: str, *tests: str, instead: str | None = None) -> Guard:
    return Guard(name, tests, instead)


def row(title: str, *guards: Guard) -> Iterator[Guard]:
    return (replace(guard, row=title) for guard in guards)
