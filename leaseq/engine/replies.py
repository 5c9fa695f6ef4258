"""A script's reply, and the table of refusals: which reply code raises which exception.

The forms of all replies are in the headers of ``lua/*.lua``. `Commands` raises the exceptions in this table,
so a method of the queue decodes only successful replies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from leaseq.engine import codec
from leaseq.errors import Invalid, ItemFinished, ItemNotFound, LeaseLost, LeaseqError, QueueNotFound
from leaseq.models import Item, LeaseKey

# Codes of replies that are not refusals, for scripts that have more than one.
CLEAR = b"clear"  # reserve: there are items that nobody needs any more, call clear first
CHANGED = b"changed"  # configure: another policy is in force
AGAIN = b"again"  # erase_person: the person is back, start again
DELETING = b"deleting"  # configure: the existing queue is being deleted
DIGESTS = b"digests"  # enqueue: send the payloads' digests too
EXISTS = b"exists"  # load: there is a queue of this name
FORM = b"form"  # finish: the queue's form has changed, check the result against the current one
LEASED = b"leased"
MORE = b"more"  # reserve: the search takes more than one call, call again
HELD = b"held"  # why_nothing
NOT_ELIGIBLE = b"not-eligible"
PAUSED = b"paused"
STOPPED = b"stopped"
OTHER_ANSWERS = b"other-answers"
SOMETHING = b"something"
UNREAD = b"unread"  # remove: an answer was given in the meantime


class Reply(NamedTuple):
    """A script's reply. ``resent``: the first reply was lost, so the script may have run before."""

    code: bytes
    rest: list[Any]
    resent: bool


class Call(NamedTuple):
    """A call of a script, with the values that refusals mention."""

    script: str
    queue: str
    args: tuple[str, ...]  # in the order of ARGV in the script's header, without the time

    @property
    def id(self) -> str:
        return self.args[0]

    @property
    def lease_key(self) -> LeaseKey:
        """The id, token and person of the lease in the call."""
        return self.args[0], int(self.args[1]), self.args[2]


def refusal(call: Call, reply: Reply) -> LeaseqError | None:
    """The exception for a reply; None if the call succeeded."""
    make = _TABLE.get((call.script, reply.code)) or _TABLE.get((_ANY, reply.code))
    return make(call, reply) if make else None


def _lease_lost(call: Call, reply: Reply) -> LeaseLost:
    answer_kept, parts = reply.rest
    item = codec.item(call.id, parts)
    _, token, person = call.lease_key
    kept = bool(answer_kept)
    grant = next((grant for grant in item.history if (grant.token, grant.person) == (token, person)), None)
    if grant is not None and grant.how == "held":
        return LeaseLost("lease_lost", item=item, answer_kept=kept, what="unfinished")
    state = _present_state(item, token, person)
    if grant is not None:
        return LeaseLost("lease_lost", item=item, answer_kept=kept, **state)
    return LeaseLost("no_lease", item=item, answer_kept=kept, person=person, token=str(token), **state)


def _answer_adopted(call: Call, reply: Reply) -> LeaseLost:
    return LeaseLost("lease_lost", item=codec.item(call.id, reply.rest[0]), what="adopted")


def _item_missing(call: Call, reply: Reply) -> ItemNotFound | None:
    """None if the remove was sent again, since the first one may have removed the item."""
    return None if reply.resent else ItemNotFound(call.queue, call.id)


def _wrong_state(call: Call, reply: Reply, *states: str, first: str = "") -> Invalid:
    """``first``: what to do before the call, if something helps."""
    return Invalid("id", "state", what=first, states=states, id=call.id, state=_state(reply))


def _not_cancellable(call: Call, reply: Reply) -> Invalid:
    return _wrong_state(call, reply, "inbound", "reserved", "scheduled")


def _not_waiting(call: Call, reply: Reply) -> Invalid:
    first = {"reserved": "release", "dead": "revive"}.get(_state(reply), "reopen")
    return _wrong_state(call, reply, "waiting", first=first)


def _not_removable(call: Call, reply: Reply) -> LeaseqError:
    _, _, condition, state = call.args
    if condition == "unless":
        return ItemFinished(call.queue, codec.item(call.id, reply.rest[0]))
    return _wrong_state(call, reply, state)


def _not_changeable(call: Call, reply: Reply) -> Invalid:
    state = _state(reply)
    if state == "dead":
        return _wrong_state(call, reply, "inbound", "scheduled", first="revive").at("delay")
    first = "release" if state == "reserved" else "enqueue"
    return _wrong_state(call, reply, "inbound", "scheduled", "dead", first=first)


def _state(reply: Reply) -> str:
    state: bytes = reply.rest[0][0]
    return state.decode()


_Refusal = Callable[[Call, Reply], LeaseqError | None]
_ANY = ""  # any script
_VALUES: Final[dict[str, Callable[[Call, Reply], Any]]] = {
    "maximum": lambda _, reply: reply.rest[0],
    "id": lambda call, _: call.id,
    "token": lambda call, _: call.args[1],
    "person": lambda call, _: call.args[2],
    "seconds": lambda call, _: int(call.args[4]) // 1_000_000,
}


def _invalid(field: str, rule: str, *names: str, **values: Any) -> _Refusal:
    """A refusal with these values, and those that have these names in _VALUES."""
    return lambda call, reply: Invalid(
        field, rule, **values, **{name: _VALUES[name](call, reply) for name in names}
    )


_TABLE: Final[dict[tuple[str, bytes], _Refusal]] = {
    (_ANY, b"no-queue"): lambda call, reply: QueueNotFound(call.queue, deleted=reply.rest[:1] == [1]),
    (_ANY, b"no-item"): lambda call, _: ItemNotFound(call.queue, call.id),
    (_ANY, b"lost"): _lease_lost,
    ("enqueue", b"reused"): _invalid("request_id", "request_id"),
    ("enqueue", b"rows"): _invalid("requires", "maximum", "maximum", what="rows"),
    ("renew", b"full"): _invalid("holds", "maximum", "maximum", what="leases"),
    ("renew", b"used-up"): _invalid("renewals", "maximum", "maximum", what="renewals"),
    ("undo_finish", b"too-late"): _invalid("undo", "undo", "seconds"),
    ("undo_finish", b"told"): _invalid("undo", "undo_told", "id"),
    ("take_back", b"too-late"): _invalid("undo", "undo", "seconds"),
    ("undo_finish", b"adopted"): _answer_adopted,
    ("cancel", b"wrong-state"): _not_cancellable,
    ("revive", b"wrong-state"): lambda call, reply: _wrong_state(call, reply, "dead"),
    ("assign", b"wrong-state"): _not_waiting,
    ("assign", b"assigned"): _invalid("id", "assigned", "id"),
    ("assign", b"answered"): _invalid("person", "holds_or_answered", "id", "person", what="item"),
    ("assign", b"rows"): _invalid("person", "maximum", "maximum", what="rows"),
    ("change", b"wrong-state"): _not_changeable,
    ("change", b"unexpected"): _invalid("expected", "item_changed", "id"),
    ("change", b"taken"): _invalid("payload", "payload_fixed", "id"),
    ("change", b"rows"): _invalid("requires", "maximum", "maximum", what="rows"),
    ("restore", b"rows"): _invalid("requires", "maximum", "maximum", what="rows"),
    ("adopt", b"no-answer"): _invalid("token", "token", "id", "token", what="late"),
    ("adopt", b"answered"): _invalid("token", "holds_or_answered", what="late"),
    ("reopen", b"no-answer"): _invalid("token", "token", "id", "token", what="answer"),
    ("reopen", b"answered"): lambda call, _: Invalid(
        "to", "holds_or_answered", what="part", id=call.id, person=call.args[3]
    ),
    ("reopen", b"dead"): _invalid("id", "state", "id", what="dead_part"),
    ("reopen", b"rows"): _invalid("to", "maximum", "maximum", what="rows"),
    ("correct", b"no-answer"): _invalid("token", "token", "id", "token", what="answer"),
    ("correct", b"answered"): _invalid("by", "holds_or_answered", "id", "person", what="part"),
    ("remove", b"no-item"): _item_missing,
    ("remove", b"wrong-state"): _not_removable,
}
REFUSAL_CODES: Final = frozenset(code for _, code in _TABLE)
"""All codes in the table of refusals. For some scripts, they are not refusals."""


def _present_state(item: Item, token: int, person: str) -> dict[str, str]:
    """The item's current state for the person whose lease had this token, as values of LeaseLost. They may
    hold it under another lease now."""
    if leases := [lease for lease in item.leases if lease.person == person]:
        return {"what": "held", "now": str(leases[0].token)}
    if any((answer.token, answer.person) == (token, person) for answer in item.answers):
        return {"what": "answered" if item.state == "finished" else "answer"}
    if item.state == "dead" and item.failures >= item.max_attempts:
        return {"what": "attempts"}
    return {"what": item.state}
