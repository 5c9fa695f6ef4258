"""The data about a person across all stores: as a document, and erased."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from datetime import UTC, date, datetime
from typing import Any

import leaseq
from leaseq import Client, LeaseqError, Queue, QueueNotFound, webhooks
from leaseq.transfer import rfc3339
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.people import Erasure
from leaseq.webapp.store.activity import KEPT_DAYS, Activity, Breaks
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.idempotency import IdempotencyStore
from leaseq.webapp.store.jobs.imports import ImportJobs
from leaseq.webapp.store.jobs.simulations import Simulations
from leaseq.webapp.store.jobs.undo import UndoStore
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.open_calls import OpenCalls
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.threads import Threads

FORMAT = "leaseq.person/1"
_ENTRIES = 200  # of the log, per read


def person_document(client: Client, accounts: Accounts, name: str) -> Iterator[str]:
    """The document, in pieces. If the name has no account, ``account`` is null, and the rest is what is
    stored under the name. Lists have one entry per line, so that programs can read them line by line."""
    account = accounts.find(name)
    name = account.name if account else leaseq.validation.person_name(name, "name")
    since, errors = leaseq.read_queues(client, journal_since, of_people(client))
    names = list(since)
    fields: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        "exported_at": datetime.now(UTC),
        "account": account,
        "sign_in": _sign_in(accounts, name),
        "break_since": Breaks(client).get(name),
        "stored_responses": [
            datetime.fromtimestamp(at, UTC) for at in IdempotencyStore(client).of_person(name)
        ],
    }
    lists: dict[str, Iterable[Any]] = {
        "tokens": accounts.tokens(name),
        "invitations": (
            invitation for invitation in accounts.invitations() if name in (invitation.name, invitation.by)
        ),
        "log": _log(accounts, name),
        "activity": _activity(client, name),
        "recent": Activity(client).recent(name, 1_000),
        "access": (
            {"queue": q, "named_to": kinds} for q, kinds in QueueAccess(client).of_person(name).items()
        ),
        "saved_views": (
            {"queue": queue, "view": view, "search": search}
            for queue, view, search in ListSettingsStore(client).of_person(name)
        ),
        "announcements": (
            {"queue": queue, "text": announcement.text, "by": announcement.by, "response": response}
            for queue, announcement, response in Announcements(client).of_person(name)
        ),
        "imports": ({"id": id} for id in ImportJobs(client).of_person(name)),
        "simulations": _simulations(client, names, name),
        "webhook_endpoints": (
            {"id": endpoint.id}
            for endpoint in webhooks.Endpoints(client).all()
            if endpoint.created_by == name
        ),
        "messages": (
            {"queue": queue, "item": id, **asdict(message)}
            for queue, id, message in Threads(client).of_person(name)
        ),
        "queues": ({"queue": queue, "journal_since": at} for queue, at in since.items()),
        "unreadable_queues": ({"queue": queue, "why": str(error)} for queue, error in errors.items()),
        "items": _items(client, names, name),
    }
    yield "{\n"
    for field, value in fields.items():
        yield f"{json.dumps(field)}: {_text(value)},\n"
    for position, (field, entries) in enumerate(lists.items(), 1):
        yield f"{json.dumps(field)}: ["
        for number, entry in enumerate(entries):
            yield f"{',' if number else ''}\n  {_text(entry)}"
        yield f"\n]{',' if position < len(lists) else ''}\n"
    yield "}\n"


def _sign_in(accounts: Accounts, name: str) -> dict[str, Any]:
    factor = accounts.factors.find(name)
    return {
        "last_at": accounts.last_sign_ins().get(name),
        "second_factor_since": factor and factor.since,
        "unused_recovery_codes": factor.recovery_codes if factor else 0,
        "identity_provider": accounts.has_provider_link(name),
        **accounts.traces.of_person(name),
    }


def _log(accounts: Accounts, name: str) -> Iterator[Any]:
    after = None
    while True:
        page = accounts.log.page(after=after, limit=_ENTRIES, person=name)
        yield from page.entries
        after = page.after
        if after is None:
            return


def _activity(client: Client, name: str) -> Iterator[Any]:
    for day, by_queue in Activity(client).of_person(name, KEPT_DAYS).items():
        for queue, figures in by_queue.items():
            yield {"day": day, "queue": queue, **asdict(figures)}


def _simulations(client: Client, names: Iterable[str], name: str) -> Iterator[Any]:
    for queue in names:
        run = Simulations(client).latest(queue)
        if run and run.by == name:
            yield {"queue": queue, "began": run.began}


def _items(client: Client, names: Iterable[str], name: str) -> Iterator[Any]:
    for queue in names:
        with suppress(QueueNotFound):
            for item in Queue(client, queue).person_items(name):
                answers = [_answer(answer) for answer in item.answers]
                late_answers = [_answer(answer) for answer in item.late_answers]
                yield {"queue": queue, **asdict(item), "answers": answers, "late_answers": late_answers}


def _answer(answer: leaseq.Answer) -> dict[str, Any]:
    """An answer without the payload, which is not the person's data."""
    return {
        "result": answer.result,
        "token": answer.token,
        "finished_at": answer.finished_at,
        "late": answer.late,
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> Any:
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def of_people(client: Client) -> list[str]:
    """The queues in which people work: all except the queue of webhook deliveries."""
    return [name for name in leaseq.queues(client) if name != webhooks.QUEUE]


def journal_since(queue: Queue) -> datetime | None:
    """The time of the oldest event in a queue's journal; None if the journal is empty."""
    events: list[leaseq.Event] = []
    with suppress(QueueNotFound):  # it has been deleted
        events = queue.journal(limit=1)
    return events[0].at if events else None


class UnreadableQueues(LeaseqError):
    """Queues of a newer version remain, so the erasure is not finished."""

    def __init__(self, name: str, errors: dict[str, leaseq.QueueUnreadable]) -> None:
        self.tell("unfinished_erasure", name=name, queues=sorted(errors))


def erase_in_stores(client: Client, erasure: Erasure) -> None:
    name, to = erasure.name, erasure.pseudonym
    for shared_store in (Threads, QueueAccess, ListSettingsStore, Simulations, ImportJobs, Announcements):
        shared_store(client).rename_person(name, to)
    Breaks(client).end(name)
    for personal_store in (OpenCalls, IdempotencyStore, Activity, UndoStore):
        personal_store(client).forget_person(name)
