"""Which functions a joined script has, and where: making one costs each call that comes to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Line = tuple[str, int, str]
"""A file, the number of a line in it, and the line."""

_FUNCTION = re.compile(r"(?:local )?function ([\w.]+)\(")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?")


@dataclass(frozen=True, eq=False)
class _Part:
    """A function at top level with its name, or one other line with none."""

    name: str | None
    stage: int  # how many blocks of includes the script has up to here
    lines: list[Line]

    def names(self) -> set[str]:
        """What it may use: each word, and each word with its field, as in ``grants.parse``."""
        found = {name for _, _, text in self.lines for name in _NAME.findall(text)}
        return found | {name.partition(".")[0] for name in found}


def placed(lines: Iterable[Line]) -> list[Line]:
    """The lines, without the functions at top level that nothing uses. A function that is first used behind a
    later block of includes moves to the start of that block: where the script returns before it, the
    function is not made.

    A function at top level begins at the start of a line, and ends with that line or at the next ``end`` at
    the start of a line.
    """
    parts = list(_parts(lines))
    unused = [part for part in parts if part.name is not None]
    used, kept = set[str](), list[_Part]()
    for stage in range(parts[-1].stage + 1):
        reached = [part for part in parts if part.name is None and part.stage == stage]
        block = []
        while reached:
            block += reached
            used = used.union(*(part.names() for part in reached))
            reached = [part for part in unused if part.name in used and part.stage <= stage]
            unused = [part for part in unused if part not in reached]
        kept += sorted(block, key=parts.index)
    return [line for part in kept for line in part.lines]


def _parts(lines: Iterable[Line]) -> Iterator[_Part]:
    script, before, stage = None, None, 0
    lines = iter(lines)
    for file, number, text in lines:
        script = script or file
        stage += before == script != file
        before = file
        begun = _FUNCTION.match(text)
        part = _Part(begun[1] if begun else None, stage, [(file, number, text)])
        if begun and not text.endswith(" end"):
            for line in lines:
                part.lines.append(line)
                if line[2] == "end":
                    break
        yield part
