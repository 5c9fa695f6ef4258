"""Guarantee 7, idempotence: each call succeeds although the first reply was lost, and acts once.

The same calls run twice, once over an intact connection and once over one that is cut after the server
acted; at the end, the two queues are equal to the microsecond.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.scripts import SCRIPTS
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.calls import CALLS, Before, Call
from tests.engine.proxy import CuttingProxy

# The proxy is in front of a single server's socket. tests/conformance/engines breaks links of the others.
pytestmark = pytest.mark.not_on("cluster", "sentinel")


@pytest.fixture(scope="module")
def proxy(server: Server) -> Iterator[CuttingProxy]:
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        CuttingProxy(server.url, Path(folder)) as cutting_proxy,
    ):
        yield cutting_proxy


def contents(server: Server, name: str) -> dict[str, str]:
    """Return everything that the server has of a queue, without the request ids, which are random."""
    request = re.compile(r"(b'p:\w+': b' ?)[0-9a-f]+|( q)[^ \\]+|(b'(?:request|changes)': b')[^']+")
    state = server_contents.everything(server.redis, name).items()
    return {key.decode().partition("}")[2]: request.sub(r"\1\2\3", str(value)) for key, value in state}


@pytest.mark.parametrize(("before", "script", "call"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_a_call_whose_reply_is_lost_succeeds_and_acts_once(
    server: Server, proxy: CuttingProxy, queue_name: str, before: Before, script: str, call: Call
) -> None:
    outcomes: list[tuple[object, ...]] = []
    for link in ("whole", "cut"):
        queue = leaseq.Queue(server.client, f"{queue_name}.{link}", clock=Clock())
        queue.enqueue_many(NewItem({"n": id}, id=id) for id in "abcd")
        prepared_value = before(queue)
        if link == "whole":
            result = call(queue, prepared_value)
        else:
            proxy.cuts = 0
            proxy.cut(script)
            result = call(
                leaseq.Queue(leaseq.connect(proxy.url), queue.name, clock=queue._commands._clock),
                prepared_value,
            )
            assert proxy.cuts == 1
        outcomes.append((result, contents(server, queue.name)))
    assert outcomes[1] == outcomes[0]


def test_first_enqueue_creates_queue_if_reply_is_lost(proxy: CuttingProxy, queue_name: str) -> None:
    queue = leaseq.Queue(leaseq.connect(proxy.url), queue_name)
    proxy.cut("configure")
    assert queue.enqueue({}, id="one").added
    assert [e.what for e in queue.journal()] == ["created", "enqueued"]


def test_configure_with_create_only_succeeds_if_reply_is_lost(
    server: Server, proxy: CuttingProxy, queue_name: str
) -> None:
    queue = leaseq.Queue(leaseq.connect(proxy.url), queue_name)
    proxy.cut("configure")
    assert queue.configure(create_only=True, holds=2).holds == 2
    assert [e.what for e in queue.journal()] == ["created"]
    proxy.cut("configure")
    with pytest.raises(leaseq.QueueExists):
        queue.configure(create_only=True, holds=3)
    assert leaseq.Queue(server.client, queue_name).policy.holds == 2


def test_every_writing_script_is_covered() -> None:
    names = {script for _, _, script, _ in CALLS}
    writing_names = {name for name, script in SCRIPTS.items() if script.writes}
    assert names == writing_names - {"confirm"}  # it is a part of the others (connect/test_durable.py)
