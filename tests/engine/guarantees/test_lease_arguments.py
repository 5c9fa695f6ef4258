"""A verb on a lease takes the Lease, or its id, token and person; the error for anything else names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

import leaseq
from tests.conftest import Server
from tests.support.refused import refused

START = datetime(2026, 11, 22, tzinfo=UTC)
CALLS: dict[str, Callable[..., object]] = {
    "renew": leaseq.Queue.renew,
    "save_draft": lambda queue, *lease, **parts: queue.save_draft(*lease or [None], {}, **parts),
    "finish": lambda queue, *lease, **parts: queue.finish(*lease or [None], {}, **parts),
    "undo_finish": leaseq.Queue.undo_finish,
    "take_back": leaseq.Queue.take_back,
    "abandon": leaseq.Queue.abandon,
    "fail": lambda queue, *lease, **parts: queue.fail(*lease or [None], "no", **parts),
}


@pytest.mark.parametrize("verb", CALLS)
def test_none_from_reserve_is_refused_as_lease(queue: leaseq.Queue, verb: str) -> None:
    queue.configure()
    lease = queue.reserve("ann")
    assert lease is None
    for arguments in ([lease], []):
        with pytest.raises(leaseq.Invalid) as error:
            CALLS[verb](queue, *arguments)
        assert error.value.field == "lease"
        assert error.value.rule == "type"


def test_finish_of_none_without_result_names_lease(queue: leaseq.Queue) -> None:
    with refused("type", "lease", what="lease"):
        queue.finish(None)  # type: ignore[call-overload]


LEASE = leaseq.Lease(
    queue="reviews",
    id="one",
    token=7,
    person="ann",
    payload={},
    attempt=1,
    reserved_at=START,
    expires_at=START,
    lease_seconds=300,
    draft=None,
)
PARTS: dict[str, Any] = {"id": "one", "token": 7, "person": "ann"}
WRONG: dict[str, tuple[list[Any], dict[str, Any], str, str, dict[str, Any]]] = {
    "a lease and its id": ([LEASE], {"id": "one"}, "id", "lease", {"what": "both", "value": "one"}),
    "a lease and another token": ([LEASE], {"token": 8}, "token", "lease", {"what": "both", "value": 7}),
    "a lease and all parts": ([LEASE], PARTS, "id", "lease", {"what": "both", "value": "one"}),
    "no id": ([], {"token": 7, "person": "ann"}, "id", "lease", {"what": "parts"}),
    "no token": ([], {"id": "one", "person": "ann"}, "token", "lease", {"what": "parts"}),
    "no person": ([], {"id": "one", "token": 7}, "person", "lease", {"what": "parts"}),
    "an id alone": ([], {"id": "one"}, "token", "lease", {"what": "parts"}),
    "a part that is None": ([], PARTS | {"token": None}, "token", "lease", {"what": "parts"}),
    "an id in the lease's place": (["one"], {}, "lease", "type", {"kind": "str"}),
    "an id in the lease's place, and the other parts": (
        ["one"],
        {"token": 7, "person": "ann"},
        "lease",
        "type",
        {"kind": "str"},
    ),
    "the outcome of a finish": (
        [leaseq.Finished("one", False, False)],
        {},
        "lease",
        "type",
        {"kind": "Finished"},
    ),
    "a lease of another queue": (
        [replace(LEASE, queue="other")],
        {},
        "lease",
        "lease",
        {"what": "queue", "other": "other"},
    ),
    "an id with a line break": ([], PARTS | {"id": "a\nb"}, "id", "printable", {}),
    "an id that is a number": ([], PARTS | {"id": 1}, "id", "printable", {}),
    "a token that is text": ([], PARTS | {"token": "7"}, "token", "range", {"minimum": 1}),
    "a token that is true": ([], PARTS | {"token": True}, "token", "range", {"minimum": 1}),
    "a token below 1": ([], PARTS | {"token": 0}, "token", "range", {"minimum": 1}),
    "a person without a name": ([], PARTS | {"person": ""}, "person", "printable", {"maximum": 64}),
}


@pytest.mark.parametrize("verb", CALLS)
@pytest.mark.parametrize("case", WRONG)
def test_invalid_lease_arguments_are_refused(server: Server, verb: str, case: str) -> None:
    lease, parts, field, rule, values = WRONG[case]
    with refused(rule, field, **values):
        CALLS[verb](leaseq.Queue(server.client, "reviews"), *lease, **parts)


@pytest.mark.parametrize("verb", CALLS)
def test_unknown_keyword_argument_raises_type_error(queue: leaseq.Queue, verb: str) -> None:
    """As for any Python function, an unknown argument is a TypeError."""
    for lease, parts in (([], PARTS), ([replace(LEASE, queue=queue.name)], {})):
        with pytest.raises(TypeError, match="unexpected keyword argument 'tokn'"):
            CALLS[verb](queue, *lease, **parts, tokn=7)


@pytest.mark.parametrize(("verb", "name"), [("finish", "result"), ("save_draft", "draft")])
def test_missing_result_or_draft_is_refused(queue: leaseq.Queue, verb: str, name: str) -> None:
    with refused("required") as error:
        getattr(queue, verb)(**PARTS)
    assert error.value.field == name
