"""Selects and places the functions of a joined script: creating one costs each call that reaches it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Line = tuple[str, int, str]
"""A file, a line number in it, and the line."""

_FUNCTION = re.compile(r"(?:local )?function ([\w.]+)\(")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?")


@dataclass(frozen=True, eq=False)
class _Part:
    """A top-level function with its name, or any other single line, without a name."""

    name: str | None
    stage: int  # the number of blocks of includes in the script up to here
    lines: list[Line]

    def names(self) -> set[str]:
        """The names that it may use: each word, and each word with its field, as in ``grants.parse``."""
        words = {name for _, _, text in self.lines for name in _NAME.findall(text)}
        return words | {name.partition(".")[0] for name in words}


def arrange_functions(lines: Iterable[Line]) -> list[Line]:
    """Return the lines without the top-level functions that nothing uses. A function that is first used after
    a later block of includes is moved to the start of that block, so that it is not created if the script
    returns before it.

    A top-level function begins at the start of a line, and ends with that line or at the next ``end`` at the
    start of a line.
    """
    parts = list(_parts(lines))
    unused_parts = [part for part in parts if part.name is not None]
    used_names, kept_parts = set[str](), list[_Part]()
    for stage in range(parts[-1].stage + 1):
        reached_parts = [part for part in parts if part.name is None and part.stage == stage]
        block = []
        while reached_parts:
            block += reached_parts
            used_names = used_names.union(*(part.names() for part in reached_parts))
            reached_parts = [part for part in unused_parts if part.name in used_names and part.stage <= stage]
            unused_parts = [part for part in unused_parts if part not in reached_parts]
        kept_parts += sorted(block, key=parts.index)
    return [line for part in kept_parts for line in part.lines]


def _parts(lines: Iterable[Line]) -> Iterator[_Part]:
    script, previous_file, stage = None, None, 0
    lines = iter(lines)
    for file, number, text in lines:
        script = script or file
        stage += previous_file == script != file
        previous_file = file
        match = _FUNCTION.match(text)
        part = _Part(match[1] if match else None, stage, [(file, number, text)])
        if match and not text.endswith(" end"):
            for line in lines:
                part.lines.append(line)
                if line[2] == "end":
                    break
        yield part
