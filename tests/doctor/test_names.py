"""Stored names and ids that programs can take for another path, which earlier versions accepted."""

from __future__ import annotations

from typing import Any

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import QUEUES, STATUS, Keys
from tests.doctor.reports import report_of, url_of

PEOPLE = "leaseq:{@accounts}:people"


def findings_of(server: Any) -> dict[str, str]:
    report = report_of(url_of(server))
    return {
        one.check: f"{one.problem} ({one.fix})"
        for one in report.findings
        if one.check.endswith(("name", "-id"))
    }


def test_stored_names_that_are_other_paths_are_found(scratch_server: Any) -> None:
    client = leaseq.connect(url_of(scratch_server))
    queue = leaseq.Queue(client, "q")
    queue.enqueue_many([NewItem({}, id=id) for id in ("good", "https://example.org/a..b/c")])
    assert findings_of(scratch_server) == {}
    queue.restore(NewItem({}, id="../../qa/items/qa-4"), [])
    scratch_server.sadd(QUEUES, "..")
    scratch_server.hset(Keys("..").ledger, STATUS, "x")
    for name in ("ann", "../people/admin2", "alice/export"):
        scratch_server.hset(PEOPLE, name, "{}")
    findings = findings_of(scratch_server)
    assert findings.keys() == {"queue-name", "person-name", "item-id"}
    assert "'..'" in findings["queue-name"]
    assert all(name in findings["person-name"] for name in ("'../people/admin2'", "'alice/export'"))
    assert "'ann'" not in findings["person-name"]
    assert "'../../qa/items/qa-4'" in findings["item-id"]
    assert "good" not in findings["item-id"]
    assert "'https://example.org/a..b/c'" not in findings["item-id"]
    assert leaseq.queues(client) == ["q"], "the queue that no URL can contain breaks no list"
