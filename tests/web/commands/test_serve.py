"""``leaseq serve``: refuses to start without a key, and serves until it is stopped."""

from __future__ import annotations

import secrets
import subprocess

import pytest

from leaseq.server.embedded import EmbeddedServer
from tests.support.processes import LEASEQ, environment, is_ready, run_leaseq
from tests.support.waiting import TIMEOUT, eventually


@pytest.mark.parametrize("key", ["", "short"])
def test_serve_refuses_a_missing_or_weak_key(key: str, port: int) -> None:
    completed = run_leaseq("serve", "--redis", "unix:///none", "--port", str(port), LEASEQ_SECRET_KEY=key)
    assert (completed.returncode, completed.stdout, completed.stderr.count("\n")) == (1, "", 1)
    assert "LEASEQ_SECRET_KEY" in completed.stderr


GOOD_KEY = secrets.token_urlsafe(32)


def test_serve_exits_on_sigterm_and_reports_taken_port(own_server: EmbeddedServer, port: int) -> None:
    arguments = ["serve", "--redis", own_server.url, "--port", str(port), "--workers", "1"]
    env = environment(LEASEQ_SECRET_KEY=GOOD_KEY)
    process = subprocess.Popen([str(LEASEQ), *arguments], env=env, stderr=subprocess.DEVNULL)
    try:
        eventually(is_ready(port), "it serves")
        completed = run_leaseq(*arguments, LEASEQ_SECRET_KEY=GOOD_KEY)
        assert f"port {port} on 127.0.0.1 is taken" in completed.stderr
    finally:
        process.terminate()
        assert process.wait(TIMEOUT) == 0
