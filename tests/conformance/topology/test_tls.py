"""The same calls over TLS, to a server and through a sentinel. Debian's Redis is built with TLS."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis

import leaseq
from leaseq.doctor import examine
from tests.support.leases import not_none
from tests.support.ports import free_port
from tests.support.waiting import TIMEOUT, eventually

REDIS = shutil.which("redis-server")
PERSISTENCE = ("--appendonly", "yes", "--appendfsync", "always", "--save", "")
pytestmark = [
    pytest.mark.skipif(not REDIS, reason="platform: there is no redis-server on the PATH"),
    pytest.mark.skipif(not shutil.which("openssl"), reason="platform: there is no openssl on the PATH"),
]


@dataclass
class SecuredServers:
    """A server, a sentinel that watches it, and the trusted certificate; both have only a TLS port."""

    server: int
    sentinel: int
    trusted: Path
    pid: int  # the server's process


@pytest.fixture(scope="module")
def secured() -> Iterator[SecuredServers]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="leaseq")))
        certificate, key = _certificate(folder)
        server, sentinel = free_port(), free_port()
        tls: tuple[str, ...] = ("--port", "0", "--tls-cert-file", certificate, "--tls-key-file", key)
        tls += ("--tls-ca-cert-file", certificate, "--tls-auth-clients", "no", "--tls-replication", "yes")
        file = folder / "sentinel.conf"
        file.write_text(f"sentinel monitor mymaster 127.0.0.1 {server} 1\n")
        pids = []
        for port, extra_arguments in ((server, PERSISTENCE), (sentinel, (str(file), "--sentinel"))):
            address_options = ("--tls-port", str(port), "--bind", "127.0.0.1", "--dir", str(folder))
            command = [str(REDIS), *extra_arguments, *tls, *address_options]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            pids.append(process.pid)
            stack.callback(process.wait)
            stack.callback(process.kill)
            client = redis.Redis(host="127.0.0.1", port=port, ssl=True, ssl_ca_certs=certificate)
            stack.callback(client.close)
            eventually(client.ping)
        yield SecuredServers(server, sentinel, Path(certificate), pids[0])


def _certificate(folder: Path) -> tuple[str, str]:
    certificate, key = folder / "server.crt", folder / "server.key"
    options = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=leaseq -addext subjectAltName=IP:127.0.0.1"
    command = ["openssl", *options.split(), "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return str(certificate), str(key)


@pytest.mark.parametrize("kind", ["server", "sentinel"])
def test_work_and_doctor_succeed_over_tls(
    secured: SecuredServers, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"127.0.0.1:{getattr(secured, kind)}"
    url = f"rediss://{address}/0" if kind == "server" else f"rediss+sentinel://{address}/mymaster/0"
    client = leaseq.connect(f"{url}?ssl_ca_certs={secured.trusted}")
    queue = leaseq.Queue(client, f"over-tls-{kind}")
    queue.enqueue({"n": 1})
    assert queue.finish(not_none(queue.reserve("ann")), {}).replayed is False
    monkeypatch.setattr("leaseq.doctor.checks.addresses_of", lambda _: ["192.0.2.1"])
    checks = {one.check for one in examine(client).findings}
    assert "no-tls" not in checks
    assert ("no-replica" in checks) is (kind == "sentinel")
    client.close()


@pytest.mark.parametrize("kind", ["server", "sentinel"])
def test_untrusted_server_certificate_is_refused(secured: SecuredServers, kind: str) -> None:
    address = f"127.0.0.1:{getattr(secured, kind)}"
    url = f"rediss://{address}/0" if kind == "server" else f"rediss+sentinel://{address}/mymaster/0"
    with pytest.raises(leaseq.ServerUnavailable):
        leaseq.connect(url).ping()


async def wait_until_one_link_is_left(client: leaseq.aio.Client) -> None:
    def count(clients: list[dict[str, str]]) -> int:
        return [one["name"] for one in clients].count("hangs")

    while count(await client.redis.client_list()) != 1:  # noqa: ASYNC110 - only the server has this state
        await asyncio.sleep(0.01)


def test_cancelled_call_does_not_wait_for_a_hanging_server(secured: SecuredServers) -> None:
    """Normally, both sides of a TLS connection confirm its end."""
    url = f"rediss://127.0.0.1:{secured.server}/0?ssl_ca_certs={secured.trusted}"

    async def calls() -> None:
        async with leaseq.aio.connect(
            f"{url}&client_name=hangs&socket_timeout=600&socket_connect_timeout=600"
        ) as client:
            await client.ask(("PING",))
            os.kill(secured.pid, signal.SIGSTOP)
            try:
                call = asyncio.create_task(client.ask(("PING",)))
                _, pending = await asyncio.wait({call}, timeout=0.1)
                call.cancel()
                _, still_pending = await asyncio.wait({call}, timeout=15)
            finally:
                os.kill(secured.pid, signal.SIGCONT)
            assert pending
            assert not still_pending
            async with asyncio.timeout(TIMEOUT):  # the server ends its side, and a new link takes its place
                await wait_until_one_link_is_left(client)

    asyncio.run(calls())
