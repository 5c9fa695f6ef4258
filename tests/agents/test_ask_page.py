"""The other examples of docs/ask.md run, with somebody who answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import leaseq
from tests.meta.docs.test_examples import blocks
from tests.support.waiting import TIMEOUT

MakeToken = Callable[[str], str]


@pytest.fixture
def refunds(queue: leaseq.Queue) -> Iterator[leaseq.Queue]:
    """A queue whose questions are answered at once."""
    stop = threading.Event()

    def work() -> None:
        while lease := queue.reserve("ann", wait=TIMEOUT, stop=stop):
            approves = "action" in lease.payload
            queue.finish(lease, {"decision": "approve"} if approves else {"refund": "yes"})

    queue.configure()
    person = threading.Thread(target=work)
    person.start()
    yield queue
    stop.set()
    person.join()


def test_examples_get_answers(
    refunds: leaseq.Queue, server: Any, app_url: str, make_token: MakeToken
) -> None:
    code = blocks("docs/ask.md", "python")
    basic, remote, approval = (
        next(c for c in code if part in c) for part in ("connect(", "Asker(", "approval(")
    )
    values = {
        "leaseq.connect()": f"leaseq.connect({server.url!r})",
        "https://leaseq.example.org": app_url,
        '"refunds"': f'"{refunds.name}"',
    }
    names: dict[str, Any] = {"TOKEN": make_token("asker")}
    for example, result in (
        (basic, {"refund": "yes"}),
        (approval, {"decision": "approve"}),
        (remote.replace("40-1182", "40-1183"), {"refund": "yes"}),
    ):
        for text, value in values.items():
            example = example.replace(text, value)  # noqa: PLW2901
        exec(compile(example, "docs/ask.md", "exec"), names)
        assert (names["answered"].how, names["answered"].result) == ("single", result)
    names["client"].close()


def test_question_is_looked_for_later(queue: leaseq.Queue) -> None:
    (example,) = (code for code in blocks("docs/ask.md", "python") if "wait=5" in code)
    remembered: list[str] = []
    queue.configure()
    names = {"leaseq": leaseq, "queue": queue, "payload": "x", "remember": remembered.append}
    exec(compile(example.replace("wait=5", "wait=0"), "docs/ask.md", "exec"), names)
    assert remembered == ["refund-40-1182"]
