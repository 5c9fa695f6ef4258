"""The scripts by name: which keys of a queue each gets, and whose writes are confirmed."""

from __future__ import annotations

from typing import Final

from leaseq.engine.scripts import Script, load

_ROW = ("ledger", "items", "inbound", "reserved", "scheduled", "dead")
_ALL = (*_ROW, "finished", "journal", "history")
_MANAGER = (*_ALL, "late", "drafts")
_READ = (*_ROW, "finished", "history", "late")

SCRIPTS: Final[dict[str, Script]] = {
    script.name: script
    for script in (
        load("enqueue", "ledger", "items", "inbound", "scheduled", "journal"),
        load("reserve", "ledger", "items", "inbound", "reserved", "journal"),
        load("leave_line", *_ALL),
        load("renew", *_ALL, "drafts", "late"),
        load("save_draft", *_ROW, "finished", "history", "drafts", "late"),
        load("finish", "ledger", "reserved", "journal", "finished"),
        load("undo_finish", *_ALL, "drafts", "late"),
        load("take_back", *_ALL, "drafts", "late"),
        load("abandon", *_ALL, "late"),
        load("fail", *_ALL, "late"),
        load("clear", *_ROW, "finished", "journal"),
        load("check_alerts", "ledger", "inbound", "reserved", "dead", "journal"),
        load("revive", *_MANAGER),
        load("release", *_MANAGER),
        load("assign", *_MANAGER),
        load("change", *_MANAGER),
        load("remove", *_MANAGER),
        load("adopt", *_MANAGER),
        load("reopen", *_MANAGER),
        load("correct", *_MANAGER),
        load("restore", *_MANAGER),
        load("pause", "ledger", "journal"),
        load("resume", "ledger", "journal"),
        load("configure", "ledger", "journal"),
        load("delete", "ledger"),
        load("delete_keys", "ledger"),
        load("erase_person", *_MANAGER),
        load("policy", "ledger"),
        load("schema", "ledger"),
        load("confirm", "ledger"),
        load("get", *_READ),
        load("items", *_READ),
        load("late_items", *_READ),
        load("person_items", *_READ),
        load("mine", "ledger", "items", "drafts"),
        load("why_nothing", "ledger", "items", "inbound", "reserved", "scheduled"),
        load("stats", "ledger", "inbound", "reserved", "scheduled", "finished", "dead"),
        load("journal", "ledger", "journal"),
        load("history", "journal"),
        load("follow", "ledger", "journal"),
        load("unfollow", "ledger", "journal"),
        load("outcomes", *_READ),
        load("dump", "ledger"),
        load("dump_items", *_READ, "drafts"),
        load("load", "ledger"),
        load("load_items", *_MANAGER),
    )
}

# Scripts whose writes may be lost: the clear job runs again anyway, a place in the waiting list is not a
# promise, a follower that is set back reads again, a queue whose deletion began no longer exists, and an
# interrupted restore starts again.
_UNCONFIRMED_SCRIPTS = {"clear", "check_alerts", "leave_line", "confirm", "follow", "unfollow", "delete_keys"}
_UNCONFIRMED_SCRIPTS |= {"load", "load_items"}
CONFIRMED_SCRIPTS: Final = {name for name, script in SCRIPTS.items() if script.writes} - _UNCONFIRMED_SCRIPTS
"""The scripts whose writes are confirmed according to the policy's ``durable``."""
