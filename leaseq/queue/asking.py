"""Questions: items whose answer the program that adds them waits for."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Unpack

from leaseq import validation
from leaseq.engine import arguments
from leaseq.engine.notifications import NoItemYet, wait_for
from leaseq.errors import Invalid, ItemNotFound, NotAnswered, NotAnsweredReason, StillWaiting
from leaseq.models import Answered, DiedOf, Item, Json, NewItem, QuestionOptions
from leaseq.queue.producer import Producer

_POLL_SECONDS = 2.0  # after which a waiting call looks, should the message of an answer be lost
_REASONS: Final[Mapping[DiedOf, NotAnsweredReason]] = {
    "failed": "dead",
    "cancelled": "cancelled",
    "expired": "expired",
}
_ASKED = " q"  # in the head of an item: somebody waits for its answer


class Asking(Producer):
    def ask(
        self,
        payload: Json,
        *,
        id: str | None = None,
        timeout: float = 3_600,
        wait: float | None = None,
        default: Json = ...,
        by: str | None = None,
        stop: threading.Event | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Answered:
        """Ask a person: add an item, and wait for its answer.

        ``timeout``, in seconds: nobody needs the answer after that. ``wait``: wait only this long, at most
        ``timeout``, and then raise StillWaiting; go on with ``wait_for``; setting ``stop`` ends the wait
        early. ``form``, ``requires``, ``to``, ``priority``: as for ``enqueue``. ``by``: who asks, as the
        person who answers reads it.

        ``id`` makes the call safe to repeat: the same id with an equal payload and form is the same question,
        in whatever state it is, so a program that was restarted gets the answer that came meanwhile. With
        other content, or another ``by``, it raises Invalid (field ``id``).

        Raises NotAnswered if nobody answers in time, or ever; with ``default`` it returns that instead
        (``how`` is "default" then). A person who has begun in time may still answer after that: ``wait_for``
        returns the answer, with ``late``.
        """
        seconds = validation.number(timeout, "timeout", 0.001, arguments.MAX_DELAY)
        wait_seconds = seconds if wait is None else validation.number(wait, "wait", 0, seconds)
        question = NewItem(payload, id, expires=seconds, **options)
        row = arguments.row(question, arguments.item_ids(1)[0] if id is None else id)
        row[1] += _ASKED + arguments.in_head(arguments.author(by))
        validation.dump_json(None if default is ... else default, "default")
        try:
            answered = self._wait(row[0], wait_seconds, stop, row)
            if answered is None and (wait_seconds < seconds or self._connection.listener.has_ended(stop)):
                raise StillWaiting(row[0])
            if answered is None:
                raise NotAnswered(row[0], "expired")
        except NotAnswered as error:
            if default is ...:
                raise
            return Answered(error.id, default, (), "default")
        return answered

    def wait_for(self, id: str, timeout: float = 30, *, stop: threading.Event | None = None) -> Answered:
        """Wait up to ``timeout`` seconds for the answer of an item that is there, as `ask` does. Raises
        StillWaiting if there is none by then or ``stop`` was set, NotAnswered if there will be none, and
        ItemNotFound."""
        seconds = validation.number(timeout, "timeout", 0, arguments.MAX_DELAY)
        answered = self._wait(validation.item_id(id), seconds, stop)
        if answered is None:
            raise StillWaiting(id)
        return answered

    def _wait(
        self, id: str, seconds: float, stop: threading.Event | None, row: list[str] | None = None
    ) -> Answered | None:
        """Subscribe, add the item if there is a row, and look until it is settled: so no answer is missed,
        whenever it is given. None if it is not settled in time. Raises NotAnswered."""
        listener, is_known = self._connection.listener, False
        enqueued_at: datetime | None = None

        def look(_name: str = "", _woken: bool = False) -> Answered | NoItemYet:
            nonlocal is_known, enqueued_at
            item = self._look(id, is_known)
            is_known, enqueued_at = True, enqueued_at or item.enqueued_at
            if item.enqueued_at != enqueued_at:  # removed, and another one has the id
                raise NotAnswered(id, "cancelled")
            return _outcome(item) or NoItemYet(_POLL_SECONDS, 0)

        self._connection.check_open()
        waiter = listener.join(self._keys.ended, stop, item=id) if seconds else None
        try:
            if row is not None:
                result = self._enqueue(row, None, 0)
                is_known = result.added == 1
                row[0] = result.duplicate_id or id
                if not is_known and self._is_another_question(row):
                    raise Invalid("id", "question", id=row[0])
                if row[0] != id:
                    return self._wait(row[0], seconds, stop)
            outcome = look()
            if waiter is not None and isinstance(outcome, NoItemYet):
                outcome = wait_for(listener, [waiter], seconds, [look]) or outcome
                self._connection.check_open()
            return outcome if isinstance(outcome, Answered) else None
        finally:
            if waiter is not None:
                listener.leave(waiter)

    def _look(self, id: str, is_known: bool) -> Item:
        """The item, marked as one whose answer somebody waits for. Raises NotAnswered if a known one was
        removed."""
        try:
            item = self._run_on_item("get" if is_known else "ask", id)
            if is_known and item.state in ("finished", "dead"):
                item = self._run_on_item("ask", id)  # it is confirmed, as the policy requires, unlike a read
        except ItemNotFound:
            if not is_known:
                raise
            raise NotAnswered(id, "cancelled") from None
        return item

    def _is_another_question(self, row: list[str]) -> bool:
        """Whether the item with this row's id has another payload or form, or is not of the same asker."""
        if self._differs(row):
            return True
        try:
            item = self._run_on_item("get", row[0])
        except ItemNotFound:
            return True
        words = {word[0]: word[1:] for word in row[1].split(" ") if word}
        own_form = "" if item.form is None else arguments.own_form(item.form)
        is_of_another = bool(words["q"]) and words["q"] != arguments.in_head(item.asked_by or "")
        return is_of_another or words.get("g", "") != own_form


def _outcome(item: Item) -> Answered | None:
    """The outcome of a question, or None if somebody may still answer it. Raises NotAnswered."""
    answers = tuple(sorted(item.answers, key=lambda answer: answer.finished_at))
    if item.state == "dead":
        raise NotAnswered(item.id, _REASONS[item.died_of or "failed"], answers)
    if item.state != "finished":
        return None
    if not answers:
        raise NotAnswered(item.id, "dead")
    late = item.expires is not None and answers[0].finished_at > item.expires
    return Answered(item.id, answers[0].result, answers, "single" if len(answers) == 1 else "undecided", late)
