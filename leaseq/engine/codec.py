"""The codecs of stored strings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from urllib.parse import quote

from leaseq.events import Event, EventKind, EventRow
from leaseq.models import (
    Alert,
    AlertName,
    Answer,
    DiedOf,
    Ending,
    GivenAnswer,
    GivenAnswerRow,
    Grant,
    Ineligibility,
    Item,
    Json,
    Lease,
    Outcome,
    OutcomeRow,
    State,
    Stopped,
    StoredDecision,
    WaitingRow,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_parse = cast("Any", json.JSONDecoder()).scan_once  # called by raw_decode with the text and the start index


def to_datetime(microseconds: int | float | str | bytes) -> datetime:
    return datetime.fromtimestamp(float(microseconds) / 1e6, UTC)  # a double is exact to the microsecond here


def microseconds(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(microseconds=1)


def lease(queue: str, parts: Sequence[Any]) -> Lease:
    """Decode ``{id, grant, record, draft or nil, the item's own form or nil}``; nil at the end may be left
    out."""
    id, grant, record, draft, own_form = (*parts, None, None)[:5]
    token, person, terms = grant.decode().split("\t")
    words = terms.split(" ")
    granted_at, lease_seconds = float(words[0]), float(words[1])
    expires_at = granted_at + lease_seconds * 1e6
    for mark in words[3:]:
        if mark[0] == "x":
            expires_at = float(mark[1:])
    text = record.decode()
    end = text.index("\n")
    asked_by, expires = _question(text[:end]) if end > _PLAIN_HEAD else (None, None)
    return Lease(
        queue,
        id.decode(),
        int(token),
        _parse(text, end + 1)[0],
        int(words[2]),
        datetime.fromtimestamp(granted_at / 1e6, UTC),
        datetime.fromtimestamp(expires_at / 1e6, UTC),
        lease_seconds,
        None if draft is None else _parse(draft.decode(), 0)[0],
        person,
        None if own_form is None else _parse(own_form.decode(), 0)[0],
        own_form is not None,
        asked_by,
        expires,
    )


_PLAIN_HEAD = 11  # characters: the time alone


def _question(head: str) -> tuple[str | None, datetime | None]:
    """Who asked an item, and until when its answer is needed."""
    letters = {word[0]: word[1:] for word in head.split(" ")[1:]}
    asked_by, expires = letters.get("q"), letters.get("e")
    return (
        None if asked_by is None else asked_by.replace("\a", " "),
        None if expires is None else to_datetime(expires),
    )


@dataclass(frozen=True, slots=True)
class ParsedGrant:
    """A decoded grant: the lease itself, and the answer if it was finished."""

    grant: Grant
    result: Json = None
    late: bool = False
    moved: bool = False  # whether it came from another assignment, in whose attempts it is counted


def parse_grant(text: str) -> ParsedGrant:
    line, _, rest = text.partition("\n")
    token, person, terms = line.split("\t")
    granted_at, seconds, attempt, *marks = terms.split(" ")
    by_letter = {mark[0]: mark[1:] for mark in marks}
    ending, _, result = rest.partition("\n")
    kind, ended_at, detail = [*ending.split(" ", 2), "", ""][:3]
    if kind == "failed":
        detail = detail.partition(" ")[2]
    undone = None
    if kind == "undone":
        undone, _, detail = detail.partition(" ")
    is_held = not kind
    reason = json.loads(detail) if detail and kind in ("abandoned", "failed", "undone", "reopened") else None
    grant = Grant(
        token=int(token),
        person=person,
        attempt=int(attempt),
        reserved_at=to_datetime(granted_at),
        how=cast("Ending", kind or "held"),
        ended_at=None if is_held else to_datetime(ended_at),
        expires_at=to_datetime(by_letter.get("x") or int(granted_at) + float(seconds) * 1e6)
        if is_held
        else None,
        renewals=int(by_letter.get("n", 0)),
        reason=reason,
        undone=cast("Any", undone or "finished") if kind == "undone" else None,
    )
    if kind != "finished":
        return ParsedGrant(grant, moved="m" in by_letter)
    return ParsedGrant(grant, result=json.loads(result), late=detail == "1", moved="m" in by_letter)


def parse_record(text: str) -> tuple[str, dict[str, str], str]:
    """Decode a record: the time of the enqueue in hexadecimal, the head's letters, and the payload as
    JSON."""
    head, _, payload = text.partition("\n")
    enqueued_at, *letters = head.split(" ")
    return enqueued_at, {letter[0]: letter[1:] for letter in letters}, payload


@dataclass(frozen=True, slots=True)
class _Assignment:
    """One of an item's assignments, decoded."""

    state: State
    score: str
    head: dict[str, str]  # by letter
    enqueued_at: str
    payload: Json
    blocks: tuple[ParsedGrant, ...]  # its grants, oldest first
    late: str
    max_attempts: str
    row: str
    needed: str  # how many answers the item needs
    form: str  # its own form as JSON, or ''

    @property
    def attempts(self) -> int:
        attempts = (block.grant.attempt for block in self.blocks if not block.moved)
        return max([int(self.head.get("a", 0)), *attempts])

    @property
    def assigned_to(self) -> str:
        return self.row[1:] if self.row.startswith("@") and self.state not in ("finished", "dead") else ""

    @property
    def answer(self) -> ParsedGrant | None:
        return self.blocks[-1] if self.blocks and self.blocks[-1].grant.how == "finished" else None

    @property
    def users(self) -> set[str]:
        """The people who have it: its holder, or who answered it, also if their answer was corrected."""
        people: set[str] = set()
        for grant in (block.grant for block in self.blocks):
            if grant.how == "reopened" or grant.undone == "finished":
                people.clear()
            elif grant.how in ("held", "finished", "corrected"):
                people.add(grant.person)
        return people

    def is_renewable(self, changed_at: int) -> bool:
        """Whether the last holder may take it back, by what this assignment tells. `changed_at`: the latest
        token when the payload was changed."""
        grant = self.blocks[-1].grant if self.blocks else None
        return (
            grant is not None
            and (grant.how, self.state) == ("expired", "inbound")
            and grant.token > changed_at
            and self.assigned_to in ("", grant.person)
        )


def _assignment(parts: Sequence[bytes | None]) -> _Assignment:
    """Decode state, score, record, grant, history, late answers, max attempts, row and how many
    answers the item needs, with its own form."""
    state, score, record, grant, history, late, max_attempts, row, rest = (
        v.decode() if v else "" for v in parts
    )
    needed, _, own_form = rest.partition("\n")
    time, letters, payload = parse_record(record)
    blocks = tuple(parse_grant(text) for text in [*history.split("\n\n"), grant] if text)
    return _Assignment(
        cast("State", state),
        score,
        letters,
        time,
        json.loads(payload),
        blocks,
        late,
        max_attempts,
        row,
        needed,
        own_form,
    )


_PRECEDENCE: tuple[State, ...] = ("reserved", "inbound", "scheduled", "dead", "finished")


def item(name: str, parts: Sequence[Any], *, is_whole: bool = True) -> Item:
    """Decode the reply of ``get``: the parts of the item's first assignment, then a list for each other one.

    ``name``: the item's id, or an assignment's name in lists that contain each assignment separately, which
    are not ``is_whole``.
    """
    id, _, number = name.partition("\a")
    assignments = [_assignment(parts[:9]), *(_assignment(other) for other in parts[9:])]
    first = assignments[0]
    shown_assignment = min(assignments, key=lambda assignment: _PRECEDENCE.index(assignment.state))
    shown_number = int(number or 1) + assignments.index(shown_assignment)
    blocks = sorted(
        (block for assignment in assignments for block in assignment.blocks), key=lambda b: b.grant.token
    )
    answers = [answer for assignment in assignments if (answer := assignment.answer)]
    renewable_tokens = set(_renewable_tokens(assignments)) if is_whole else set()
    grants = [replace(block.grant, renewable=block.grant.token in renewable_tokens) for block in blocks]
    place = ""
    if shown_assignment.state == "inbound":
        place = f"{quote(shown_assignment.row, safe='')}:{shown_assignment.head.get('s', 'normal')}"
    return Item(
        id=id,
        state=shown_assignment.state,
        payload=first.payload,
        priority=int(first.head.get("p", 100)),
        requires=tuple(first.head["r"].split(",")) if "r" in first.head else (),
        due=to_datetime(first.head["d"]) if "d" in first.head else None,
        attempts=sum(assignment.attempts for assignment in assignments),
        failures=int(first.head.get("f", 0)),
        max_attempts=int(first.head.get("m") or first.max_attempts),
        enqueued_at=to_datetime(int(first.enqueued_at, 16) * 1000),
        state_since=to_datetime(shown_assignment.score),
        answers_needed=int(first.needed),
        leases=tuple(block.grant for block in blocks if block.grant.how == "held"),
        answers=tuple(_answer(id, first.payload, block) for block in answers),
        late_answers=tuple(_late_answer(id, first.payload, t, blocks) for t in first.late.split("\n\n") if t),
        history=tuple(grants),
        last_error=_last_error(grants, first.head, is_dead=shown_assignment.state == "dead"),
        assigned_to=tuple(assignment.assigned_to for assignment in assignments if assignment.assigned_to),
        assignment=int(number or 1),
        cursor=f"{place}/{float(shown_assignment.score):.0f}/{shown_number}/{id}",
        form=json.loads(first.form) if first.form else None,
        expires=to_datetime(first.head["e"]) if "e" in first.head else None,
        died_of=_died_of(first.head) if shown_assignment.state == "dead" else None,
        asked_by=first.head["q"].replace("\a", " ") if "q" in first.head else None,
    )


def _renewable_tokens(assignments: Sequence[_Assignment]) -> Iterator[int]:
    """The tokens of leases that ran out, which their people may renew: not if they have the item by another
    assignment."""
    changed_at = int(assignments[0].head.get("v", 0))
    for assignment in assignments:
        if assignment.is_renewable(changed_at):
            grant = assignment.blocks[-1].grant
            if not any(grant.person in other.users for other in assignments):
                yield grant.token


EXPIRED = "the lease ran out"
"""The error of an item that died because its leases ran out."""
_CAUSES = {"expired": EXPIRED, "abandoned": "too many people gave it back"}


UNANSWERED = "expired unanswered"
"""The error of an item whose answer nobody needs any more."""


def _died_of(head: Mapping[str, str]) -> DiedOf:
    why = head.get("c")
    return "failed" if why is None else "expired" if why == "expired" else "cancelled"


def _cancel_reason(head: Mapping[str, str]) -> str | None:
    why = head["c"]
    return None if why == "expired" else cast("str | None", json.loads(why.replace("\a", " ")))


def _why_ended(died_of: DiedOf | None, reason: str | None) -> str:
    return UNANSWERED if died_of == "expired" else reason or "cancelled"


def why_ended(outcome: OutcomeRow) -> str | None:
    """The error of a dead item that nobody needs any more; None if it died otherwise."""
    return None if outcome.died_of in (None, "failed") else _why_ended(outcome.died_of, outcome.reason)


def _last_error(grants: Sequence[Grant], head: Mapping[str, str], *, is_dead: bool) -> str | None:
    """Why a dead item was ended; else the error of the last fail; without one, why it died."""
    if is_dead and "c" in head:
        return _why_ended(_died_of(head), _cancel_reason(head))
    errors = [grant.reason for grant in grants if grant.how == "failed"]
    causes = [_CAUSES[grant.how] for grant in grants if is_dead and grant.how in _CAUSES]
    return (errors or causes or [None])[-1]


def outcome(row: OutcomeRow) -> Outcome:
    answers = tuple(GivenAnswer(*answer)._replace(result=json.loads(answer.result)) for answer in row.answers)
    skills = tuple(row.requires.split(",")) if row.requires else ()
    payload = json.loads(row.payload)
    form = None if row.form is None else json.loads(row.form)
    values = (row.id, row.state, payload, row.priority, skills, row.due, answers, *row[7:])
    decision = row.decision and row.decision._replace(result=json.loads(row.decision.result))
    return Outcome(*values)._replace(form=form, decision=decision)


def outcome_row(id: str, parts: Sequence[bytes]) -> OutcomeRow:
    """Decode the state, the record, the late answers, what is open, the decision, and the grant of each
    finished assignment."""
    state, record, late, still_open, decision, *grants = (part.decode() for part in parts)
    at, *assignees = still_open.split("\t")
    _, head, payload = parse_record(record)
    answers = [_given_answer(text) for text in grants]
    if late:
        answers += map(_late_given_answer, late.split("\n\n"))
    priority, due = int(head.get("p", 100)), head.get("d")
    died_of = _died_of(head) if state == "dead" else None
    return OutcomeRow(
        id,
        cast("State", state),
        payload,
        priority,
        requires=head.get("r", ""),
        due=to_datetime(due) if due else None,
        answers=tuple(answers),
        failures=int(head.get("f", 0)),
        max_attempts=int(head["m"]) if "m" in head else None,
        answers_needed=int(head["n"]) if "n" in head else None,
        assigned_to=tuple(name.replace("\a", " ") for name in assignees),
        at=to_datetime(at) if at else None,
        form=head["g"].partition(":")[2].replace("\a", " ") if "g" in head else None,
        expires=to_datetime(head["e"]) if "e" in head else None,
        died_of=died_of,
        reason=_cancel_reason(head) if died_of == "cancelled" else None,
        asked_by=head["q"].replace("\a", " ") if "q" in head else None,
        decision=_decision(decision) if decision else None,
    )


def _decision(text: str) -> StoredDecision:
    terms, _, result = text.partition("\n")
    at, how, agreement, by, _tokens = terms.split("\t")
    return StoredDecision(result, how, float(agreement) if agreement else None, by or None, to_datetime(at))


def _given_answer(grant: str) -> GivenAnswerRow:
    claim, ending, result = grant.split("\n", 2)
    token, person, _ = claim.split("\t")
    _, at, late = ending.split(" ")
    return GivenAnswerRow(int(token), person, result, to_datetime(at), late == "1", stands=True)


def _late_given_answer(text: str) -> GivenAnswerRow:
    claim, _, result = text.partition("\n")
    token, person, at = claim.split("\t")
    return GivenAnswerRow(int(token), person, result, to_datetime(at), late=True, stands=False)


def in_list_by_due(item: Item) -> Item:
    """The item, with its cursor in the list by due date."""
    assert item.due is not None  # noqa: S101 - only items with a due date are in this list
    return replace(item, cursor=f"/{microseconds(item.due)}/1/{item.id}")


def cursor(place: bytes, score: bytes, member: bytes) -> str | None:
    """The cursor after the last scanned entry; None at the end of the list."""
    if not score:
        return None
    row, _, shelf = place.decode().rpartition("\t")
    id, _, number = member.decode().partition("\a")
    return f"{quote(row, safe='') + ':' + shelf if shelf else ''}/{float(score):.0f}/{number or 1}/{id}"


def _answer(id: str, payload: Json, block: ParsedGrant) -> Answer:
    grant = block.grant
    assert grant.ended_at is not None  # noqa: S101 - a finished grant has ended
    return Answer(
        id,
        payload,
        block.result,
        grant.person,
        grant.token,
        grant.attempt,
        grant.ended_at,
        block.late,
        _start(grant, grant.ended_at),
    )


def _late_answer(id: str, payload: Json, text: str, blocks: Sequence[ParsedGrant]) -> Answer:
    line, _, result = text.partition("\n")
    token, person, at = line.split("\t")
    finished_at = to_datetime(at)
    grant = next((b.grant for b in blocks if b.grant.token == int(token)), None)
    return Answer(
        id,
        payload,
        json.loads(result),
        person,
        int(token),
        grant.attempt if grant else 1,
        finished_at,
        late=True,
        reserved_at=_start(grant, finished_at) if grant else None,
    )


def _start(grant: Grant, finished_at: datetime) -> datetime | None:
    """The time at which the work on an answer began; None if the answer's grant was made together with the
    answer, by a correction or by restoring it."""
    return grant.reserved_at if grant.reserved_at < finished_at else None


def waiting_row(row: bytes, count: int) -> WaitingRow:
    """Decode a row's name, as in ``lua/lib/shelves.lua``, and how many wait in it."""
    name = row.decode()
    if name.startswith("@"):
        return WaitingRow((), name[1:], count)
    return WaitingRow(tuple(name.split("+")) if name else (), None, count)


def ineligibility(reply: Sequence[Any]) -> Ineligibility:
    """Decode 0 or 1 for assigned and for passed, then the missing skills."""
    sets = {tuple(sorted(skills.decode().split(","))) for skills in reply[2:]}
    lacking = tuple(sorted(sets, key=lambda skills: (len(skills), skills)))
    return Ineligibility(lacking, assigned=bool(reply[0]), passed=bool(reply[1]))


def stopped(person: bytes, text: bytes) -> Stopped:
    at, by, reason = text.decode().split("\t")
    return Stopped(person.decode(), json.loads(reason), by or None, to_datetime(at))


def alerts(text: bytes) -> tuple[Alert, ...]:
    """Decode the ledger's field of raised alerts."""
    raised_alerts: list[Alert] = []
    for line in text.decode().splitlines():
        rule, since, value = line.split(" ")
        name, _, limit = rule.partition(">")
        raised_alerts.append(Alert(cast("AlertName", name), int(limit), int(value), to_datetime(since)))
    return tuple(raised_alerts)


def event_rows(entry: bytes, fields: Sequence[bytes]) -> list[EventRow]:
    """The events of one journal entry, with their details in stored form."""
    position = int(entry.partition(b"-")[0])
    rows: list[EventRow] = []
    for name, value in zip(fields[::2], fields[1::2], strict=True):
        if name == b"enqueued":
            ids = value.decode().split("\t")
            rows += [
                EventRow(position, n, "enqueued", id, None, None, None) for n, id in enumerate(ids, len(rows))
            ]
            continue
        id, token, person, detail = [*value.decode().split("\t", 3), "", ""][:4]
        kind, number = cast("EventKind", name.decode()), int(token) if token else None
        rows.append(EventRow(position, len(rows), kind, id or None, person or None, number, detail or None))
    return rows


def event(row: EventRow) -> Event:
    detail = json.loads(row.detail) if row.detail else None
    return Event(row.cursor, to_datetime(row.position), row.what, row.id, row.person, row.token, detail)


def events(entry: bytes, fields: Sequence[bytes]) -> list[Event]:
    """The events of one journal entry. Each has its own cursor, so a page may end within the entry."""
    return [event(row) for row in event_rows(entry, fields)]
