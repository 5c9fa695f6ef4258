"""The table of the doctor's checks."""

from __future__ import annotations

import re

from leaseq.doctor import Check, exposure, policies, proxies, replication, rights, server, storage
from leaseq.doctor.examine import UNREADABLE

MODULES = (storage, exposure, server, rights, replication, policies, proxies)
_VALUES = [value for module in MODULES for value in vars(module).values()]
CHECKS = (*dict.fromkeys(value for value in _VALUES if isinstance(value, Check)), UNREADABLE)
"""All checks, each once: a module may import one from another."""


def table() -> str:
    rows = [
        f"| `{check.name}` | {check.level} | {_format(check.problem)} | {_format(check.fix)} |"
        for check in CHECKS
    ]
    return "\n".join(["| check | level | the server … | fix |", "|---|---|---|---|", *rows])


def _format(text: str) -> str:
    """A placeholder is shown as the fact's name: ``{fsync}`` as *fsync*."""
    markup = re.sub(r"\{(\w+)[^}]*\}", lambda match: f"*{match[1].replace('_', ' ')}*", text)
    return markup.replace("|", r"\|")
