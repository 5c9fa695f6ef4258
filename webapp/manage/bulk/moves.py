"""The acts that the pages offer on many items: for which states, in which words, with which fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from typing import Any, Literal, TypeAlias, cast, get_args

from flask_babel import format_date, format_decimal, gettext, ngettext
from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

import leaseq
from leaseq import STATES, Invalid, ItemNotFound, State, validation
from leaseq.webapp.item_title import item_title
from leaseq.webapp.manage.item_forms import value_of
from leaseq.webapp.refusals import in_words
from leaseq.webapp.rendering.filters import shown_name, state_word
from leaseq.webapp.search.criteria import ANY, Search, SearchedState
from leaseq.webapp.services import queues
from leaseq.webapp.services.bulk import Act, Bulk, Refusal, seconds_until
from leaseq.webapp.site_time import clock_text, read_future_moment, site_zone

Move: TypeAlias = Literal[
    "assign",
    "unassign",
    "release",
    "reopen",
    "revive",
    "priority",
    "due",
    "requires",
    "delay",
    "now",
    "export",
    "cancel",
    "remove",
    "lower",
]
MOVES: tuple[Move, ...] = get_args(Move)
_WAITING: tuple[State, ...] = ("inbound", "scheduled")
_CHANGEABLE: tuple[State, ...] = (*_WAITING, "dead")
_UNFINISHED: tuple[State, ...] = ("inbound", "reserved", "scheduled")
STATES_BY_MOVE: dict[Move, tuple[State, ...]] = {
    "assign": _WAITING,
    "unassign": (*_WAITING, "reserved", "dead"),
    "release": ("reserved",),
    "reopen": ("finished",),
    "revive": ("dead",),
    "priority": _CHANGEABLE,
    "due": _CHANGEABLE,
    "requires": _CHANGEABLE,
    "delay": _WAITING,
    "now": ("scheduled",),
    "cancel": _UNFINISHED,
    "export": STATES,
    "remove": STATES,
}
"""The states of the items that an act changes; the engine refuses others."""
FIELDS: dict[Move, tuple[str, ...]] = {
    "assign": ("person",),
    "reopen": ("person", "reason"),
    "cancel": ("reason",),
    "priority": ("priority",),
    "due": ("due",),
    "requires": ("requires",),
    "delay": ("until",),
}
"""The fields of an act's confirmation."""
UNDOABLE: tuple[Move, ...] = ("assign", "unassign", "priority", "due", "requires", "delay", "now")


def moves_for(list_name: SearchedState) -> list[tuple[Move, LazyString]]:
    """The acts that a list offers, with their names."""
    return moves_in(STATES if list_name == ANY else _UNFINISHED if list_name == "due" else (list_name,))


def moves_in(states: Sequence[State]) -> list[tuple[Move, LazyString]]:
    """The acts for items that may have one of these states, with their names."""
    return [
        (move, WORDS[move].name) for move, allowed in STATES_BY_MOVE.items() if set(allowed) & set(states)
    ]


def narrowed_search(move: Move, search: Search) -> Search:
    """The search for an act on all its results. A search of all states is narrowed to the only state that the
    act applies to."""
    states = STATES_BY_MOVE.get(move, STATES)
    return replace(search, state=states[0]) if search.state == ANY and len(states) == 1 else search


def applies(move: Move, item: leaseq.Item) -> bool:
    """Whether an act on all items of a search takes this one. With several answers, an item may wait although
    another part of it has another state."""
    return item.answers_needed > 1 or item.state in STATES_BY_MOVE.get(move, STATES)


@dataclass(frozen=True, slots=True)
class MoveWords:
    """The words for an act: its button, the confirmation's title and text, the result, and why an item stays
    as it is."""

    name: LazyString
    title: LazyString
    meaning: LazyString
    outcome: LazyString
    unchanged: LazyString = field(default_factory=lambda: _("it is so already"))


WORDS: dict[Move, MoveWords] = {
    "assign": MoveWords(
        _("Assign"),
        _("Assign %(items)s to …"),
        _("Only this person gets them, before other items of their priority, until they give them back."),
        _("Assigned %(items)s to %(value)s."),
        _("they already have it"),
    ),
    "unassign": MoveWords(
        _("Anybody"),
        _("Let anybody have %(items)s"),
        _(
            "They are no longer for one person only: anybody with the right skills can get them, before "
            "other items of their priority. Those who hold one keep it."
        ),
        _("Anybody can get %(items)s now."),
        _("it is assigned to nobody"),
    ),
    "release": MoveWords(
        _("Release"),
        _("Release %(items)s"),
        _(
            "They are taken from the people who hold them, and somebody else can get them. What is typed is "
            "kept: an answer sent after that becomes a late answer. This can't be undone."
        ),
        _("Released %(items)s."),
        _("nobody holds it"),
    ),
    "reopen": MoveWords(
        _("Reopen"),
        _("Reopen %(items)s"),
        _(
            "Their answers are taken back, and they wait again, ahead of new ones. Each answer is kept with "
            "its item, where you can accept it again."
        ),
        _("Reopened %(items)s."),
        _("it is not done, it is %(state)s"),
    ),
    "revive": MoveWords(
        _("Hand out again"),
        _("Hand out %(items)s again"),
        _(
            "They wait again with all their attempts. People who chose “Not for me” may get them again. "
            "This can't be undone."
        ),
        _("Handed out %(items)s again."),
        _("it has not failed, it is %(state)s"),
    ),
    "cancel": MoveWords(
        _("Not needed"),
        _("End %(items)s that nobody needs any more"),
        _(
            "Nobody gets them any more. Who holds one is told, and what is typed is kept. You can hand them "
            "out again."
        ),
        _("Cancelled %(items)s."),
        _("it has ended already: it is %(state)s"),
    ),
    "priority": MoveWords(
        _("Priority"),
        _("Set the priority of %(items)s"),
        _("Smaller comes first. Within each group, the oldest comes first."),
        _("Set the priority of %(items)s to %(value)s."),
    ),
    "due": MoveWords(
        _("Due date"),
        _("Set the due date of %(items)s"),
        _("A due date does not change the order of work."),
        _("Set the due date of %(items)s: %(value)s."),
    ),
    "requires": MoveWords(
        _("Skills"),
        _("Set the skills for %(items)s"),
        _("Only people who have all of these skills get them."),
        _("Set the skills for %(items)s: %(value)s."),
    ),
    "delay": MoveWords(
        _("Put off"),
        _("Put off %(items)s"),
        _("Nobody gets them before this time."),
        _("Put off %(items)s until %(value)s."),
    ),
    "now": MoveWords(
        _("Hand out now"),
        _("Hand out %(items)s now"),
        _("They are waiting now, and not only later."),
        _("Handed out %(items)s now."),
    ),
    "export": MoveWords(
        _("Export"),
        _("Export %(items)s"),
        _("Each item with its answers."),
        _("Exported %(items)s."),
    ),
    "remove": MoveWords(
        _("Remove"),
        _("Remove %(items)s"),
        _("They are deleted, with their answers and their history. This can't be undone."),
        _("Removed %(items)s."),
        _("it no longer exists"),
    ),
    "lower": MoveWords(
        _("Require fewer answers"),
        _("Require fewer answers for %(items)s"),
        _(
            "They were handed out when the queue wanted more answers for each item, and still wait for them. "
            "With fewer, those that have enough answers are finished. A person who holds one may finish it, "
            "and the answer counts. This can't be undone."
        ),
        _("Fewer answers are needed for %(items)s now."),
        _("it needs no more than that"),
    ),
}


def items_text(count: int, *, has_more: bool = False) -> str:
    """The number of items, in words."""
    if has_more:
        return str(gettext("more than %(num)s items", num=format_decimal(count)))
    return str(ngettext("%(count)s item", "%(count)s items", count, count=format_decimal(count)))


def title_of_move(move: Move, count: int, *, has_more: bool = False) -> str:
    return str(WORDS[move].title) % {"items": items_text(count, has_more=has_more)}


def outcome_text(move: Move, count: int, value: str) -> str:
    """The result: what was done to how many items. ``value``: what they got."""
    return str(WORDS[move].outcome) % {"items": items_text(count), "value": value}


@dataclass(frozen=True, slots=True)
class MoveInput:
    """The fields of an act's confirmation, as typed, and what they mean."""

    texts: dict[str, str]
    act: Act
    person: str = ""
    changes: leaseq.ItemChanges = field(default_factory=leaseq.ItemChanges)
    until: datetime | None = None
    value: str = ""  # what the items get, in words

    def bulk(self, began: datetime) -> Bulk:
        changes = self.changes
        if self.until:
            changes = {"delay": seconds_until(self.until)}
        reason = self.texts.get("reason", "").strip() or None
        return Bulk(self.act, self.person, reason, changes, began=began)


def texts_of(move: Move, form: Mapping[str, str]) -> dict[str, str]:
    """The typed texts of an act's fields; at first, the ones that the confirmation offers."""
    offered = {"until": clock_text(_tomorrow())} if "until" not in form else {}
    return {name: form.get(name, offered.get(name, "")) for name in FIELDS.get(move, ())}


def _tomorrow() -> datetime:
    """Tomorrow at nine."""
    day = datetime.now(site_zone()).date() + timedelta(days=1)
    return datetime.combine(day, time(9), site_zone())


def read_input(queue: str, move: Move, texts: dict[str, str], answers: int | None) -> MoveInput:
    """What an act's fields mean. Raises Invalid. ``answers``: how many each item then needs, for lower."""
    match move:
        case "assign":
            person = queues.worker_name(queue, texts["person"].strip())
            return MoveInput(texts, "assign", person, value=shown_name(person))
        case "reopen":
            name = texts["person"].strip()
            person = queues.worker_name(queue, name) if name else ""
            validation.text(texts["reason"], "reason")
            return MoveInput(texts, "reopen", person)
        case "cancel":
            validation.text(texts["reason"], "reason")
            return MoveInput(texts, "cancel")
        case "delay":
            until = read_future_moment(texts["until"].strip(), "until")
            return MoveInput(texts, "change", until=until, value=_time_text(until))
        case "now":
            return MoveInput(texts, "change", changes={"delay": 0})
        case "lower":
            return MoveInput(texts, "change", changes={"answers": answers or 1})
        case "priority" | "due" | "requires":
            new_value = value_of(move, texts[move])
            changes = cast("leaseq.ItemChanges", {move: new_value})
            return MoveInput(texts, "change", changes=changes, value=_in_words(new_value))
        case _:
            return MoveInput(texts, cast("Act", move))


def _in_words(value: Any) -> str:
    if isinstance(value, datetime):
        return _time_text(value)
    if isinstance(value, list):
        return ", ".join(value) or str(gettext("none"))
    return str(gettext("none") if value is None else format_decimal(value))


def _time_text(time: datetime) -> str:
    at = time.astimezone(site_zone())
    return f"{format_date(at, rebase=False)}, {at:%H:%M}"


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item that an act did not change, and why."""

    id: str
    title: str
    reason: str


def refused_item(queue: leaseq.Queue, move: Move, refusal: Refusal) -> RefusedItem:
    """A refusal in words."""
    id, item, error = refusal.id, refusal.item, refusal.error
    title = item_title(item.payload, id) if item else id
    if isinstance(error, leaseq.ItemFinished):
        return RefusedItem(id, title, gettext("somebody has just answered it"))
    if isinstance(error, Invalid):  # without an item, the id is malformed
        is_wrong_state = item is not None and error.field == "id" and error.rule == "state"
        return RefusedItem(id, title, _wrong_state(queue, move, id) if is_wrong_state else in_words(error))
    return RefusedItem(id, title, _unchanged(move, item) if item else gettext("it no longer exists"))


def refused_undo(queue: leaseq.Queue, refusal: Refusal) -> RefusedItem:
    """The reason, in words, why an item's earlier value was not put back."""
    if refusal.item and refusal.error is None:
        title = item_title(refusal.item.payload, refusal.id)
        return RefusedItem(refusal.id, title, gettext("somebody has changed it since"))
    return refused_item(queue, "assign", refusal)


def _wrong_state(queue: leaseq.Queue, move: Move, id: str) -> str:
    """The reason why an item was in no state for the act, by its state now: it may have changed since it was
    read."""
    try:
        item = queue.get(id)
    except ItemNotFound:
        return str(gettext("it no longer exists"))
    if move in ("release", "reopen", "revive", "cancel"):
        return _unchanged(move, item)
    if item.state in STATES_BY_MOVE.get(move, ()):
        return str(gettext("somebody else just changed it: try again"))
    return str(gettext("it is not waiting, it is %(state)s", state=state_word(item.state)))


def _unchanged(move: Move, item: leaseq.Item) -> str:
    return str(WORDS[move].unchanged) % {"state": state_word(item.state)}
