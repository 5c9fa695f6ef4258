"""A client generated from the OpenAPI description by a stock generator, against a running app."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import leaseq
from tests.meta.docs.test_examples import blocks
from tests.support.policy_values import OTHER_VALUES
from tests.web.conftest import FORM, SECRET, Caller
from tests.web.gunicorn_server import serve_app

PACKAGE = "leaseq_generated_client"


@pytest.fixture(scope="module")
def server_url(server: Any) -> Iterator[str]:
    with serve_app(server.url, SECRET) as url:
        yield url


@pytest.fixture(scope="module")
def folder(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the generated package."""
    path = tmp_path_factory.mktemp("generated")
    (path / "settings.yaml").write_text("post_hooks: []\n")  # don't format the output
    result = subprocess.run(
        [
            *(Path(sys.executable).with_name("openapi-python-client"), "generate", "--meta", "none"),
            *("--url", f"{server_url}/api/v1/openapi.json", "--output-path", path / PACKAGE),
            *("--config", path / "settings.yaml"),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    output = result.stdout + result.stderr
    line_warnings = output.count("Unsupported content type application/x-ndjson")  # no JSON lines
    table_warnings = output.count("Unsupported content type text/")  # or tables
    workbook_warnings = output.count("Unsupported content type application/vnd.openxmlformats")
    warnings = (line_warnings, table_warnings, workbook_warnings)
    assert (warnings, output.count("WARNING parsing")) == ((2, 2, 1), 5), output
    return path


@pytest.fixture
def client_module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Import a module of the generated package."""
    monkeypatch.syspath_prepend(folder)
    return lambda name: importlib.import_module(f"{PACKAGE}.{name}")


@pytest.fixture
def send(
    client_module: Callable[[str], Any], server_url: str, manager: Caller
) -> Iterator[Callable[..., Any]]:
    """Make a call as a manager, using its module."""
    with client_module("client").AuthenticatedClient(base_url=server_url, token=manager.token) as client:
        yield lambda name, **options: client_module(f"api.{name}").sync_detailed(client=client, **options)


POLICY: dict[str, Any] = {**OTHER_VALUES, "durable": "fsync", "form": FORM}
"""Every field differs from the default policy."""


def test_policy_change_of_one_field_keeps_other_fields(
    client_module: Callable[[str], Any], send: Callable[..., Any], queue: leaseq.Queue
) -> None:
    assert {name: value for name, value in asdict(leaseq.Policy()).items() if POLICY[name] == value} == {}
    policy = {**POLICY, "durable": "server"} if _has_no_disk(queue) else POLICY
    queue.configure(**policy)
    before = asdict(queue.policy)
    for name, value in {"holds": 2, "title": "Sorting", "renewals": None, "lease_seconds": 90.0}.items():
        body = client_module("models").PolicyChanges(**{name: value})
        response = send("queues.put_queue", q=queue.name, body=body)
        assert response.status_code == 200
        before[name] = value
        assert asdict(queue.policy) == before
        assert getattr(response.parsed.policy, name) == value


def _has_no_disk(queue: leaseq.Queue) -> bool:
    try:
        queue.configure(durable="fsync")
    except leaseq.Invalid:
        return True
    return False


def test_if_none_match_and_if_match_protect_existing_queue(
    client_module: Callable[[str], Any], send: Callable[..., Any], queue: leaseq.Queue
) -> None:
    changes = client_module("models").PolicyChanges
    response = send("queues.put_queue", q=queue.name, body=changes(title="Mine"), if_none_match="*")
    assert response.status_code == 201
    second_response = send(
        "queues.put_queue", q=queue.name, body=changes(title="Not mine"), if_none_match="*"
    )
    assert (second_response.status_code, second_response.parsed.code) == (412, "queue-exists")
    tag = response.headers["ETag"]
    assert send("queues.put_queue", q=queue.name, body=changes(holds=2), if_match=tag).status_code == 200
    stale_response = send("queues.put_queue", q=queue.name, body=changes(holds=3), if_match=tag)
    assert (stale_response.status_code, stale_response.parsed.code) == (412, "policy-changed")
    assert (queue.policy.title, queue.policy.holds) == ("Mine", 2)


def test_generated_client_enqueues_reserves_and_finishes_item(
    client_module: Callable[[str], Any], send: Callable[..., Any], queue: leaseq.Queue
) -> None:
    models, q = client_module("models"), queue.name
    queue.configure(title="A way")
    item = models.NewItem(payload={"text": "Great"}, id="r-1", due=datetime(2027, 1, 2, tzinfo=UTC))
    response = send("items.enqueue", q=q, body=item)
    assert (response.status_code, response.parsed) == (201, models.Enqueued(id="r-1", added=True))
    two = [models.NewItem(payload=1), models.NewItem(payload={"text": "Great"}, id="r-1")]
    bulk_response = send("items.enqueue", q=q, body=two)
    assert bulk_response.parsed == models.EnqueuedMany(added=1, duplicates=1)
    lease = send("work.reserve", q=q, body=models.ReserveRequest()).parsed
    assert isinstance(lease, models.Lease)
    assert (lease.expires_at - lease.reserved_at).total_seconds() == 300
    assert lease.expires_at.tzinfo is not None
    request = models.FinishRequest(token=lease.token, result={"stars": 4})
    outcome = send("work.finish", q=q, id=lease.id, body=request).parsed
    assert outcome == models.Finished(id=lease.id, late=False, replayed=False, next_=None)
    item = send("items.get_item", q=q, id="r-1").parsed
    assert item.due == datetime(2027, 1, 2, tzinfo=UTC)


def test_generated_client_works_through_queue(
    client_module: Callable[[str], Any], send: Callable[..., Any], queue: leaseq.Queue
) -> None:
    models, q = client_module("models"), queue.name
    queue.configure()
    items = [models.NewItem(payload={"n": n}, id=f"r-{n}") for n in range(5)]
    assert send("items.enqueue", q=q, body=items).parsed == models.EnqueuedMany(added=5, duplicates=0)
    lease = send("work.reserve", q=q, body=models.ReserveRequest(wait=1)).parsed
    renewed_lease = send("work.renew", q=q, id=lease.id, body=models.TokenRequest(token=lease.token)).parsed
    assert (renewed_lease.token, renewed_lease.expires_at >= lease.expires_at) == (lease.token, True)
    (held_lease,) = send("work.mine", q=q).parsed.leases
    assert (held_lease.id, held_lease.token) == ("r-0", lease.token)
    refusal = send("work.finish", q=q, id=lease.id, body=models.FinishRequest(token=99, result=1))
    assert (refusal.status_code, refusal.parsed.code) == (409, "lease-lost")
    fail_request = models.FailRequest(token=lease.token, error="cut off", retry=False, then_reserve=True)
    fail_outcome = send("work.fail", q=q, id=lease.id, body=fail_request).parsed
    assert (fail_outcome.id, fail_outcome.retry_at, fail_outcome.next_.id) == ("r-0", None, "r-1")
    abandon_request = models.AbandonRequest(token=fail_outcome.next_.token, reason="later", then_reserve=True)
    abandon_outcome = send("work.abandon", q=q, id="r-1", body=abandon_request).parsed
    assert (abandon_outcome.id, abandon_outcome.next_.payload) == ("r-1", {"n": 2})
    lease, finished_ids = abandon_outcome.next_, list[str]()
    while lease:
        request = models.FinishRequest(token=lease.token, result={"ok": True}, then_reserve=True)
        finished_ids.append(lease.id)
        lease = send("work.finish", q=q, id=lease.id, body=request).parsed.next_
    assert finished_ids == ["r-2", "r-3", "r-4", "r-1"]
    empty_response = send("work.reserve", q=q, body=models.ReserveRequest())
    assert (empty_response.status_code, empty_response.parsed) == (204, None)
    assert empty_response.headers["X-Leaseq-Reason"] == "empty"
    ids_by_state = {
        state: [
            item.id for item in send("items.list_items", q=q, state=models.ListItemsState(state)).parsed.items
        ]
        for state in ("inbound", "reserved", "finished", "dead")
    }
    assert ids_by_state == {"inbound": [], "reserved": [], "finished": finished_ids, "dead": ["r-0"]}
    first_page = send("manage.new_answers", q=q, limit=3).parsed
    second_page = send("manage.new_answers", q=q, after=first_page.after).parsed
    assert [one.id for one in (*first_page.answers, *second_page.answers)] == finished_ids
    assert (first_page.more, second_page.more, second_page.answers[0].result) == (True, False, {"ok": True})
    stats = send("queues.stats", q=q).parsed
    assert (stats.inbound, stats.reserved, stats.finished, stats.dead) == (0, 0, 4, 1)


def test_example_in_docs_runs(
    client_module: Callable[[str], Any],
    server_url: str,
    manager: Caller,
    queue: leaseq.Queue,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOKEN", manager.token)
    (code,) = blocks("docs/how-to/generate-a-client.md", "python")
    for placeholder, value in {
        "leaseq_client": client_module("client").__package__,
        "http://127.0.0.1:8000": server_url,
        '"reviews"': repr(queue.name),
    }.items():
        code = code.replace(placeholder, value)
    queue.enqueue({"text": "Never came"}, id="r-1")
    exec(compile(code, "docs/how-to/generate-a-client.md", "exec"), {})
    assert f"r-1 {manager.name} " in capsys.readouterr().out
    assert (queue.stats().finished, queue.stats().inbound, queue.policy.lease_seconds) == (2, 0, 120)


def test_generated_models_have_no_invented_names(folder: Path) -> None:
    names = {path.stem for path in (folder / PACKAGE / "models").glob("*.py")}
    assert names >= {"new_item", "enqueued", "enqueued_many", "lease", "finished", "policy", "policy_changes"}
    invented_name = re.compile(r"type_?\d|_model|json_body|_body$|response_\d")
    assert [name for name in names if invented_name.search(name)] == []
