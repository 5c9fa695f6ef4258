"""The scripts by name: which keys of a queue each gets, and whose writes are confirmed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from leaseq.engine.scripts import Script, load

_ROW = ("ledger", "items", "inbound", "reserved", "scheduled", "dead")
_ALL = (*_ROW, "finished", "journal", "history")
_MANAGER = (*_ALL, "late", "drafts")
_READ = (*_ROW, "finished", "history", "late")

_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "enqueue": ("ledger", "items", "inbound", "scheduled", "journal"),
    "reserve": ("ledger", "items", "inbound", "reserved", "journal"),
    "leave_line": _ALL,
    "renew": (*_ALL, "drafts", "late"),
    "save_draft": (*_ROW, "finished", "history", "drafts", "late"),
    "finish": ("ledger", "reserved", "journal", "finished"),
    "undo_finish": (*_ALL, "drafts", "late"),
    "take_back": (*_ALL, "drafts", "late"),
    "abandon": (*_ALL, "late"),
    "fail": (*_ALL, "late"),
    "clear": (*_ROW, "finished", "journal"),
    "check_alerts": ("ledger", "inbound", "reserved", "dead", "journal"),
    "revive": _MANAGER,
    "release": _MANAGER,
    "assign": _MANAGER,
    "unassign": _MANAGER,
    "unassign_person": _MANAGER,
    "change": _MANAGER,
    "remove": _MANAGER,
    "adopt": _MANAGER,
    "reopen": _MANAGER,
    "correct": _MANAGER,
    "restore": _MANAGER,
    "pause": ("ledger", "journal"),
    "resume": ("ledger", "journal"),
    "configure": ("ledger", "journal"),
    "delete": ("ledger",),
    "delete_keys": ("ledger",),
    "erase_person": _MANAGER,
    "policy": ("ledger",),
    "schema": ("ledger",),
    "confirm": ("ledger",),
    "get": _READ,
    "items": _READ,
    "late_items": _READ,
    "person_items": _READ,
    "mine": ("ledger", "items", "drafts"),
    "why_nothing": ("ledger", "items", "inbound", "reserved", "scheduled"),
    "waiting_rows": ("ledger", "inbound"),
    "stats": ("ledger", "inbound", "reserved", "scheduled", "finished", "dead"),
    "journal": ("ledger", "journal"),
    "history": ("journal",),
    "follow": ("ledger", "journal"),
    "unfollow": ("ledger", "journal"),
    "outcomes": _READ,
    "dump": ("ledger",),
    "dump_items": (*_READ, "drafts"),
    "load": ("ledger",),
    "load_items": _MANAGER,
}


class _Scripts(Mapping[str, Script]):
    """Joins each script at its first use: a program calls few of them, and joining all takes 0.1 s."""

    def __getitem__(self, name: str) -> Script:
        return load(name, *_KEYS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)


SCRIPTS: Final = _Scripts()

# Scripts whose writes may be lost: the clear job runs again anyway, a place in the waiting list is not a
# promise, a follower that is set back reads again, a queue whose deletion began no longer exists, and an
# interrupted restore starts again.
_UNCONFIRMED_SCRIPTS = {"clear", "check_alerts", "leave_line", "confirm", "follow", "unfollow", "delete_keys"}
_UNCONFIRMED_SCRIPTS |= {"load", "load_items"}


def is_confirmed(name: str) -> bool:
    """Whether the script's writes are confirmed according to the policy's ``durable``."""
    return name not in _UNCONFIRMED_SCRIPTS and SCRIPTS[name].writes
