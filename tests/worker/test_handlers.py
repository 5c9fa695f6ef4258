"""A handler for each value of a field of the payload, and queues whose failed items are not retried."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import leaseq
from tests.conftest import Server
from tests.support.waiting import eventually
from tests.worker.conftest import Start


def test_a_field_of_the_payload_chooses_the_handler(queue: leaseq.Queue, start: Start) -> None:
    queue.enqueue_many({"kind": kind, "to": "ann"} for kind in ("reset", "welcome", "reset"))
    welcome, reset = (partial("{} {.payload[to]}".format, kind) for kind in ("welcome", "reset"))
    start({queue.name: {"welcome": welcome, "reset": reset}}, by="kind")
    eventually(lambda: queue.stats().finished == 3, "all finished")
    assert [answer.result for answer in queue.answers()] == ["reset ann", "welcome ann", "reset ann"]


HANDLERS = 'there are handlers for "welcome", "reset"'
NO_FIELD = f'the payload has no field "kind", which selects the handler; {HANDLERS}'


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        (
            {"kind": "digest"},
            f'no handler for "digest", the value of the payload\'s field "kind"; {HANDLERS}',
        ),
        ({"kind": "Grüße"}, f'no handler for "Grüße", the value of the payload\'s field "kind"; {HANDLERS}'),
        ({"kind": 5}, f'no handler for 5, the value of the payload\'s field "kind"; {HANDLERS}'),
        (
            {"kind": ["reset"]},
            f'no handler for ["reset"], the value of the payload\'s field "kind"; {HANDLERS}',
        ),
        (
            {"kind": "x" * 200_000},
            f'no handler for "{"x" * 58}…, the value of the payload\'s field "kind"; {HANDLERS}',
        ),
        (
            {"kind": "x" * 58},
            f'no handler for "{"x" * 58}", the value of the payload\'s field "kind"; {HANDLERS}',
        ),
        ({"Kind": "reset"}, NO_FIELD),
        (["kind"], NO_FIELD),
        ("kind", NO_FIELD),
        (None, NO_FIELD),
    ],
    ids=[
        "unknown value",
        "non-ASCII value",
        "number",
        "list",
        "shortened value",
        "longest value shown whole",
        "field name in capitals",
        "payload is a list",
        "payload is a text",
        "payload is null",
    ],
)
def test_item_without_handler_fails_and_is_retried(
    queue: leaseq.Queue, start: Start, payload: Any, error: str
) -> None:
    """Retried as often as the policy allows, since a newer worker may have the handler."""
    queue.configure(max_attempts=2, retry_seconds=0)
    queue.enqueue(payload, id="one")
    thread = start({queue.name: {"welcome": len, "reset": len}}, by="kind")
    eventually(lambda: queue.stats().dead == 1, "dead")
    assert (queue.get("one").last_error, queue.get("one").failures) == (error, 2)
    assert thread.stop() == leaseq.WorkerStats(failed=2)


def test_each_queue_may_select_handlers_by_its_own_field(
    server: Server, queue_name: str, start: Start
) -> None:
    mail, sms, calls = (
        leaseq.Queue(server.client, f"{queue_name}.{name}") for name in ("mail", "sms", "calls")
    )
    mail.enqueue({"kind": "welcome"})
    sms.enqueue({"type": "code"})
    calls.enqueue({})
    start(
        {mail.name: {"welcome": lambda _: 1}, sms.name: {"code": lambda _: 2}, calls.name: lambda _: 3},
        by={mail.name: "kind", sms.name: "type"},
    )
    queues = [mail, sms, calls]
    eventually(lambda: [queue.stats().finished for queue in queues] == [1, 1, 1], "finished")
    assert [next(queue.answers()).result for queue in queues] == [1, 2, 3]


def test_failed_item_is_dead_if_retry_is_off(server: Server, queue_name: str, start: Start) -> None:
    """For an exception, an invalid result and a missing handler; other queues retry."""
    once_queue, other_queue = (
        leaseq.Queue(server.client, f"{queue_name}.{name}") for name in ("once", "other")
    )
    for queue in (once_queue, other_queue):
        queue.configure(max_attempts=5, retry_seconds=3_600)
        queue.enqueue_many(
            [leaseq.NewItem({"kind": kind}, id=kind) for kind in ("raises", "misfits", "none")]
        )

    def fail(_: leaseq.Lease) -> None:
        raise ValueError("no")

    by_kind = {"raises": fail, "misfits": lambda _: {1, 2}}
    thread = start(
        {once_queue.name: by_kind, other_queue.name: by_kind}, by="kind", retry={once_queue.name: False}
    )
    eventually(lambda: thread.worker.stats.failed == 6, "all failed")
    assert (once_queue.stats().dead, once_queue.stats().scheduled) == (3, 0)
    assert (other_queue.stats().dead, other_queue.stats().scheduled) == (0, 3)


@pytest.mark.parametrize(
    ("options", "field", "text"),
    [
        ({"handlers": {"reviews": {}}, "by": "kind"}, "handlers", "at least one handler for each queue"),
        ({"handlers": {"reviews": {"a": "len"}}, "by": "kind"}, "handlers", "for 'reviews' 'a': 'len'"),
        ({"handlers": {"reviews": {5: len}}, "by": "kind"}, "handlers", "which is text"),
        ({"handlers": {"reviews": {"a": {"b": len}}}, "by": "kind"}, "handlers", "a function for each value"),
        ({"handlers": {"reviews": {"a": len}}}, "by", "which handler of 'reviews' an item is for"),
        ({"handlers": {"reviews": {"a": len}}, "by": ""}, "by", "the name of a field"),
        ({"handlers": {"reviews": {"a": len}}, "by": 5}, "by", "the name of a field"),
        ({"handlers": {"reviews": len}, "by": "kind"}, "by", "a handler for each value: "),
        (
            {"handlers": {"reviews": len}, "by": {"reviews": "kind"}},
            "by",
            "'reviews', which has one for all items",
        ),
        ({"by": {"other": "kind"}}, "by", "one of reviews, got 'other'"),
        ({"retry": "no"}, "retry", "true or false"),
        ({"retry": None}, "retry", "true or false"),
        ({"retry": {"reviews": 0}}, "retry", "true or false"),
        ({"retry": {"other": False}}, "retry", "one of reviews, got 'other'"),
        ({"order": "random"}, "order", "one of turn, strict"),
        ({"order": None}, "order", "one of turn, strict"),
    ],
)
def test_invalid_handler_options_are_refused(server: Server, options: Any, field: str, text: str) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        leaseq.Worker(server.client, **{"handlers": {"reviews": len}, "person": "bot", **options})
    assert error.value.field == field
    assert text in str(error.value)
