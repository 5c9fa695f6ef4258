"""Records a state of the current version, at a release: ``python -m tests.conformance.upgrade.record FILE``
writes a new file in tests/conformance/upgrade/states.

The first line has what the library reads from the state, and what else the test needs; the other lines are
the server's keys. An existing file is never overwritten.
"""

from __future__ import annotations

import json
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyotp

import leaseq
from leaseq.engine.keys import SCHEMA
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from tests.conformance.upgrade.dump import lines
from tests.conformance.upgrade.scenario import Scenario
from tests.conformance.upgrade.snapshot import snapshot
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD


def people(client: leaseq.Client) -> dict[str, Any]:
    """Create some of everything in the accounts; return the secrets that give access, which are used nowhere
    else."""
    accounts = Accounts(client, passwords=CHEAP_PASSWORDS)
    setup = accounts.setup_token()
    assert setup is not None
    accounts.set_up(setup, "meg", PASSWORD)
    ann = accounts.add("ann", by="meg", skills=["fr", "legal"], password=PASSWORD)
    accounts.add("b b", by="meg", role="manager")
    accounts.add("gone", by="meg")
    accounts.change("gone", by="meg", disabled=True)
    factor = accounts.factors.offer("b b")
    _, recovery = accounts.turn_on_factor("b b", pyotp.TOTP(factor).now())
    accounts.authenticate_by_provider("carol", "https://idp.example.org 42", create=True)
    activity = Activity(client)
    activity.record("ann", "plain", "finished", id="one", token=1, active_ms=1_000)
    activity.flush()
    return {
        "token": accounts.create_token("ann", "a program", by="ann", queue="plain"),
        "session": accounts.sessions.start(ann),
        "invitation": accounts.invite(by="meg", role="worker", skills=["fr"], name="dora"),
        "link": accounts.password_link("b b", by="meg"),
        "factor": factor,
        "recovery": recovery[0],
        "day": datetime.now(UTC).date().isoformat(),
        "log": len(accounts.log.latest(50)),
    }


def record(path: Path) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as server,
    ):
        client = leaseq.connect(server.url)
        scenario = Scenario(client)
        scenario.fill_queues()
        head = {
            "leaseq": version("leaseq"),
            "schema": SCHEMA,
            "clocks": {name: clock.now for name, clock in scenario.clocks.items()},
            "seen": snapshot(client, scenario.clocks),
            "accounts": people(client),
        }
        with path.open("x", encoding="utf-8") as file:
            print(json.dumps(head, ensure_ascii=False), file=file)
            for line in lines(client.redis):
                print(line, file=file)
        client.close()


if __name__ == "__main__":
    record(Path(sys.argv[1]))
