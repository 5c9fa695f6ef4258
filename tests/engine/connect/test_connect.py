from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest
import redis

import leaseq
from leaseq.engine.client import connection_of
from tests.conftest import Server
from tests.support.refused import raises
from tests.support.waiting import eventually


@pytest.mark.parametrize(
    "url",
    [
        "redis://localhost:6379/0",
        "redis://user:p%40ss@localhost/3",
        "rediss://:secret@redis.example.org:6380/0",
        "unix:///run/leaseq/server.sock",
        "unix://user:secret@/run/server.sock?db=2",
        "redis+sentinel://one:26379,two:26379,three/mymaster/0",
        "redis+sentinel://user:secret@one/mymaster?sentinel_password=other&socket_timeout=2",
    ],
)
def test_connect_opens_no_connection(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("it connected"))
    client = leaseq.connect(url)
    assert client.url == url
    leaseq.Queue(client, "q")


def test_socket_timeout_of_sentinel_url_is_used() -> None:
    client = leaseq.connect("redis+sentinel://one/mymaster?socket_timeout=2")
    assert connection_of(client).wait_milliseconds == 1_600
    client = leaseq.connect("redis+sentinel://one/mymaster")
    assert connection_of(client).wait_milliseconds == 4_000, "80 % of the default of five seconds"


def test_error_reports_that_no_sentinel_answers() -> None:
    queue = leaseq.Queue(leaseq.connect("redis+sentinel://127.0.0.1:1,127.0.0.1:2/mymaster"), "q")
    for _ in range(2):
        with raises(leaseq.ServerUnavailable, "no_answer", "2 of 2 sentinels did not answer"):
            queue.stats()


def test_cluster_url_connects_immediately() -> None:
    with raises(leaseq.ServerUnavailable, "no_answer", "127.0.0.1:1"):
        leaseq.connect("redis+cluster://:hunter2@127.0.0.1:1")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:6379",
        "http://localhost",
        "redis:/localhost",
        "redis://localhost:port",
        "redis://localhost:99999999",
        "redis://[::1",
        "redis+sentinel://one:26379",
        "redis+sentinel://one:26379/",
        "redis+sentinel://one:port/mymaster",
        "redis+sentinel://one/mymaster/first",
        "redis+sentinel://one/mymaster?socket_timeout=soon",
        "redis+sentinel://one/mymaster?no_such_option=1",
        "redis://localhost?socket_timeout=soon",
        "redis://localhost?no_such_option=1",
        "unix:///run/server.sock?no_such_option=1",
        5,
        None,
        b"redis://localhost",
    ],
)
def test_a_bad_url_is_invalid(url: object) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        leaseq.connect(url)  # type: ignore[arg-type]
    assert error.value.field == "url"


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2@127.0.0.1:1/0",
        "redis://ann:hunter2@127.0.0.1:1/0",
        "redis://ann:hunter2%40x@127.0.0.1:1/0",
        "redis://127.0.0.1:1/0?password=hunter2",
        "rediss://:hunter2@127.0.0.1:1",
        "unix://ann:hunter2@/nowhere/server.sock",
        "redis+sentinel://:hunter2@127.0.0.1:1/mymaster?sentinel_password=hunter2",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    client = leaseq.connect(url)
    assert "hunter2" not in repr(client)
    calls: list[Callable[[], object]] = [client.ping, lambda: leaseq.Queue(client, "q").reserve("ann")]
    for call in calls:
        with pytest.raises(leaseq.ServerUnavailable) as error:
            call()
        assert "hunter2" not in str(error.value)


def test_password_is_not_shown_in_error_for_bad_url() -> None:
    for url in (
        "redis://:hunter2#@localhost",
        "redis+sentinel://:hunter2@one:x/m",
        "redid://:hunter2@localhost",
    ):
        with pytest.raises(leaseq.Invalid) as error:
            leaseq.connect(url)
        assert "hunter2" not in str(error.value)


@pytest.mark.not_on("cluster")  # its list of connections is for one node
def test_closing_ends_the_connections(server: Server, queue_name: str) -> None:
    client = leaseq.connect(server.url)
    queue = leaseq.Queue(client, queue_name)
    before = len(server.redis.client_list())
    queue.enqueue({})
    assert len(server.redis.client_list()) > before
    client.close()
    assert any(len(server.redis.client_list()) <= before for _ in range(1_000))
    client.close()


@pytest.mark.not_on("cluster")
def test_closing_ends_a_connection_that_is_in_use(server: Server) -> None:
    def ids() -> set[str]:  # not a count: connections of other tests may end at any time
        return {one["id"] for one in server.redis.client_list()}

    client = leaseq.connect(server.url)
    before = ids()
    connection = cast("Any", client.redis).connection_pool.get_connection()
    connection.connect()
    opened = ids() - before
    assert opened
    client.close()
    eventually(lambda: not opened & ids(), "it is closed")


def test_translating_converts_redis_exceptions(server: Server) -> None:
    with raises(leaseq.ServerRefused, "server_refused"), server.client.translating():
        server.redis.execute_command("HGET", "leaseq:{x}:y")  # a missing argument
    with pytest.raises(leaseq.ServerUnavailable), server.client.translating():
        raise redis.TimeoutError("slow")


def test_threads_share_a_client(queue: leaseq.Queue) -> None:
    queue.configure(holds=100)
    queue.enqueue_many([{}] * 100)
    wrong_leases: list[object] = []

    def work(person: str) -> None:
        for _ in range(10):
            lease = queue.reserve(person)
            if lease is None or lease.person != person:
                wrong_leases.append(lease)

    threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong_leases == []
    assert queue.stats().counters["reserved"] == 80


def test_interrupted_call_leaves_no_reply_for_next_call(
    queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For instance by Ctrl-C, between the request and the reply."""
    queue.enqueue({}, id="one")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(redis.connection.AbstractConnection, "read_response", interrupt)
        with pytest.raises(KeyboardInterrupt):
            queue.enqueue({}, id="two")
    assert queue.get("one").id == "one"


def test_forked_child_uses_its_own_connections(queue: leaseq.Queue) -> None:
    """Two processes that share a socket would read each other's replies."""
    queue.configure(holds=100)
    queue.enqueue_many([{}] * 200)
    queue.reserve("parent")
    child = os.fork()
    person = "parent" if child else "child"
    try:
        success = all((lease := queue.reserve(person)) and lease.person == person for _ in range(50))
    finally:
        if not child:
            os._exit(0 if success else 1)
    assert success
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len({lease.token for name in ("parent", "child") for lease in queue.mine(name)}) == 101
