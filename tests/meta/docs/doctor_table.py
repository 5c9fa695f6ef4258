"""The table of the doctor's checks, from the code: ``python -m tests.meta.docs.doctor_table`` prints it."""

from __future__ import annotations

import re

from leaseq.doctor import CHECKS


def table() -> str:
    rows = [f"| `{one.name}` | {one.level} | {_shown(one.says)} | {_shown(one.cure)} |" for one in CHECKS]
    return "\n".join(["| check | level | the server … | fix |", "|---|---|---|---|", *rows])


def _shown(text: str) -> str:
    """A fact's place is shown by its name: ``{fsync}`` as *fsync*."""
    named = re.sub(r"\{(\w+)[^}]*\}", lambda match: f"*{match[1].replace('_', ' ')}*", text)
    return named.replace("|", r"\|")


if __name__ == "__main__":
    print(table())
