"""A manager's actions on items: their wording, calls and audit log entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from flask_babel import gettext as _
from flask_babel import ngettext

import leaseq
from leaseq import Invalid, ItemNotFound, ListName
from leaseq.webapp.context import person, state
from leaseq.webapp.item_title import item_title
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.rendering.states import state_word
from leaseq.webapp.search.criteria import ANY, Search, SearchedState
from leaseq.webapp.security.audit_log import log_change

Move: TypeAlias = Literal["release", "assign", "unassign", "revive", "remove", "lower"]
MOVES: tuple[Move, ...] = get_args(Move)

_MOVES_BY_STATE: dict[SearchedState, tuple[Move, ...]] = {
    "inbound": ("assign", "unassign", "remove"),
    "reserved": ("release", "unassign", "remove"),
    "scheduled": ("assign", "unassign", "remove"),
    "finished": ("remove",),
    "dead": ("revive", "remove"),
    "due": ("release", "assign", "unassign", "remove"),
    "any": ("release", "revive", "remove"),
}
_STATE_BY_MOVE: dict[Move, ListName] = {"release": "reserved", "revive": "dead"}
_LOG_KINDS = {
    "release": "released",
    "assign": "assigned",
    "unassign": "unassigned",
    "revive": "revived",
    "remove": "removed",
    "lower": "changed",
}


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item that an action did not change, and why."""

    id: str
    title: str
    reason: str


def moves_for(state: SearchedState) -> tuple[Move, ...]:
    """The actions that apply to the items of a list, or of all states."""
    return _MOVES_BY_STATE[state]


def narrowed_search(move: Move, search: Search) -> Search:
    """The search for an action on all its results. A search of all states is narrowed to the state that the
    action applies to."""
    return replace(search, state=_STATE_BY_MOVE.get(move, ANY)) if search.state == ANY else search


def name_of(move: Move) -> str:
    words: dict[Move, str] = {
        "release": _("Release"),
        "assign": _("Assign"),
        "unassign": _("Let anybody have them"),
        "revive": _("Hand out again"),
        "remove": _("Remove"),
        "lower": _("Require fewer answers"),
    }
    return words[move]


def meaning_of(move: Move) -> str:
    """What the action does, in words for its confirmation."""
    words: dict[Move, str] = {
        "release": _(
            "They are taken from the people who hold them, and somebody else can get them. What is typed is "
            "kept: an answer sent after that becomes a late answer."
        ),
        "assign": _(
            "Only this person gets them, before other items of their priority, until they give them back."
        ),
        "unassign": _(
            "They are no longer for one person only: anybody with the right skills can get them, before "
            "other items of their priority. Those who hold one keep it."
        ),
        "revive": _(
            "They wait again with all their attempts. People who chose “Not for me” may get them again. "
            "This can't be undone."
        ),
        "remove": _("They are deleted, with their answers and their history. This can't be undone."),
        "lower": _(
            "They were handed out when the queue wanted more answers for each item, and still wait for them. "
            "With fewer, those that have enough answers are finished. A person who holds one may finish it, "
            "and the answer counts. This can't be undone."
        ),
    }
    return words[move]


def outcome_text(move: Move, count: int) -> str:
    """What was done, in words, with the number of items."""
    words: dict[Move, str] = {
        "release": ngettext("%(num)s is released and waiting.", "%(num)s are released and waiting.", count),
        "assign": ngettext("%(num)s is assigned.", "%(num)s are assigned.", count),
        "unassign": ngettext("Anybody can get %(num)s now.", "Anybody can get %(num)s now.", count),
        "revive": ngettext("%(num)s is waiting again.", "%(num)s are waiting again.", count),
        "remove": ngettext("%(num)s is removed.", "%(num)s are removed.", count),
        "lower": ngettext("%(num)s needs fewer answers now.", "%(num)s need fewer answers now.", count),
    }
    return words[move]


def run_move(
    queue: leaseq.Queue, move: Move, id: str, assignee: str, began: datetime, answers: int | None
) -> RefusedItem | None:
    """Run an action on one item. Return the refusal if it changed nothing, else None. ``began``: when the
    manager asked for it; an item that got an answer since is not removed. ``answers``: how many the item then
    needs."""
    by, before = person().name, None
    try:
        before = queue.get(id)
        if move == "remove":
            is_known = before.answers and all(answer.finished_at <= began for answer in before.answers)
            queue.remove(id, unless=None if is_known else "finished", by=by)
            state().threads.forget(queue.name, id)
            return None
        after = _moved(queue, move, id, assignee, answers, by)
    except ItemNotFound:
        return RefusedItem(id, id, _("it no longer exists"))
    except leaseq.ItemFinished as error:
        return RefusedItem(id, item_title(error.item.payload, id), _("somebody has just answered it"))
    except Invalid as error:
        if before is None:  # the id is malformed
            return RefusedItem(id, id, in_words(error))
        reason = _wrong_state(queue, move, id) if error.field == "id" else in_words(error)
        return RefusedItem(id, item_title(before.payload, id), reason)
    if before != after:
        return None
    return RefusedItem(id, item_title(after.payload, id), _unchanged(move, after))


def _moved(
    queue: leaseq.Queue, move: Move, id: str, assignee: str, answers: int | None, by: str
) -> leaseq.Item:
    """The item after an action that keeps it."""
    if move == "release":
        return queue.release(id, by=by)
    if move == "unassign":
        return queue.unassign(id, by=by)
    if move == "revive":
        return queue.revive(id, by=by)
    if move == "lower" and answers is not None:
        return queue.change(id, by=by, answers=answers)
    return queue.assign(id, assignee, by=by)


def run_moves(
    queue: leaseq.Queue,
    move: Move,
    ids: Iterable[str],
    assignee: str,
    began: datetime,
    done_ids: list[str],
    answers: int | None = None,
) -> list[RefusedItem]:
    """Run an action on each item and return the refusals. The ids of changed items are added to ``done_ids``,
    so that the caller has them even if the server fails half-way."""
    refusals: list[RefusedItem] = []
    for id in dict.fromkeys(ids):
        refusal = run_move(queue, move, id, assignee, began, answers)
        if refusal:
            refusals.append(refusal)
        else:
            done_ids.append(id)
    return refusals


def log_move(queue: leaseq.Queue, move: Move, detail: str) -> None:
    """Write an action to the audit log; the queue's journal has an event for each item."""
    log_change(f"item.{_LOG_KINDS[move]}", queue.name, detail)


def ids_in_words(ids: Sequence[str]) -> str:
    """The first ten ids, and the number of the others."""
    text = ", ".join(ids[:10])
    return text if len(ids) <= 10 else f"{text} + {len(ids) - 10}"


def _wrong_state(queue: leaseq.Queue, move: Move, id: str) -> str:
    """Why an item was in no state for the action, by its state now: it may have changed since it was read."""
    try:
        item = queue.get(id)
    except ItemNotFound:
        return str(_("it no longer exists"))
    if move != "assign":
        return _unchanged(move, item)
    if item.state in ("inbound", "scheduled"):
        return str(_("somebody else just changed it: try again"))
    return str(_("it is not waiting, it is %(state)s", state=state_word(item.state)))


def _unchanged(move: Move, item: leaseq.Item) -> str:
    words: dict[Move, str] = {
        "release": _("nobody holds it"),
        "revive": _("it has not failed, it is %(state)s", state=state_word(item.state)),
        "assign": _("they already have it"),
        "unassign": _("it is assigned to nobody"),
        "remove": _("it no longer exists"),
        "lower": _("it needs no more than that"),
    }
    return words[move]
