"""A client that a stock generator makes of the description, against a running app."""

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
from tests.support.policy_values import ANOTHER
from tests.web.conftest import FORM, SECRET, Caller
from tests.web.gunicorn_place import serving

PACKAGE = "leaseq_generated_client"


@pytest.fixture(scope="module")
def place(server: Any) -> Iterator[str]:
    with serving(server.url, SECRET) as url:
        yield url


@pytest.fixture(scope="module")
def folder(place: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated package, made as its users make it."""
    path = tmp_path_factory.mktemp("generated")
    (path / "settings.yaml").write_text("post_hooks: []\n")  # what it makes is not formatted
    made = subprocess.run(
        [
            *(Path(sys.executable).with_name("openapi-python-client"), "generate", "--meta", "none"),
            *("--url", f"{place}/api/v1/openapi.json", "--output-path", path / PACKAGE),
            *("--config", path / "settings.yaml"),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    said = made.stdout + made.stderr
    unknown = said.count("Unsupported content type application/x-ndjson")  # it knows no lines of JSON
    tables = said.count("Unsupported content type text/")  # and no tables
    assert (unknown, tables, said.count("WARNING parsing")) == (2, 2, 4), said
    return path


@pytest.fixture
def generated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Import a module of it."""
    monkeypatch.syspath_prepend(folder)
    return lambda name: importlib.import_module(f"{PACKAGE}.{name}")


@pytest.fixture
def send(generated: Callable[[str], Any], place: str, manager: Caller) -> Iterator[Callable[..., Any]]:
    """Make a call as a manager, by its module."""
    with generated("client").AuthenticatedClient(base_url=place, token=manager.token) as client:
        yield lambda name, **given: generated(f"api.{name}").sync_detailed(client=client, **given)


POLICY: dict[str, Any] = {**ANOTHER, "durable": "fsync", "form": FORM}
"""Nothing of it is what a new queue has."""


def test_one_field_is_changed_and_the_others_stand(
    generated: Callable[[str], Any], send: Callable[..., Any], queue: leaseq.Queue
) -> None:
    assert {name: value for name, value in asdict(leaseq.Policy()).items() if POLICY[name] == value} == {}
    given = {**POLICY, "durable": "server"} if _has_no_disk(queue) else POLICY
    queue.configure(**given)
    before = asdict(queue.policy)
    for name, value in {"holds": 2, "title": "Sorting", "renewals": None, "lease_seconds": 90.0}.items():
        body = generated("models").PolicyChanges(**{name: value})
        answer = send("queues.put_queue", q=queue.name, body=body)
        assert answer.status_code == 200
        before[name] = value
        assert asdict(queue.policy) == before
        assert getattr(answer.parsed.policy, name) == value


def _has_no_disk(queue: leaseq.Queue) -> bool:
    try:
        queue.configure(durable="fsync")
    except leaseq.Invalid:
        return True
    return False


def test_a_queue_is_made_only_where_there_is_none(
    generated: Callable[[str], Any], send: Callable[..., Any], queue: leaseq.Queue
) -> None:
    changes = generated("models").PolicyChanges
    made = send("queues.put_queue", q=queue.name, body=changes(title="Mine"), if_none_match="*")
    assert made.status_code == 201
    again = send("queues.put_queue", q=queue.name, body=changes(title="Not mine"), if_none_match="*")
    assert (again.status_code, again.parsed.code) == (412, "queue-exists")
    tag = made.headers["ETag"]
    assert send("queues.put_queue", q=queue.name, body=changes(holds=2), if_match=tag).status_code == 200
    late = send("queues.put_queue", q=queue.name, body=changes(holds=3), if_match=tag)
    assert (late.status_code, late.parsed.code) == (412, "policy-changed")
    assert (queue.policy.title, queue.policy.holds) == ("Mine", 2)


def test_an_item_goes_its_way(
    generated: Callable[[str], Any], send: Callable[..., Any], queue: leaseq.Queue
) -> None:
    models, q = generated("models"), queue.name
    queue.configure(title="A way")
    item = models.NewItem(payload={"text": "Great"}, id="r-1", due=datetime(2027, 1, 2, tzinfo=UTC))
    entered = send("items.enqueue", q=q, body=item)
    assert (entered.status_code, entered.parsed) == (201, models.Enqueued(id="r-1", added=True))
    two = [models.NewItem(payload=1), models.NewItem(payload={"text": "Great"}, id="r-1")]
    several = send("items.enqueue", q=q, body=two)
    assert several.parsed == models.EnqueuedMany(added=1, duplicates=1)
    lease = send("work.reserve", q=q, body=models.ReserveRequest()).parsed
    assert isinstance(lease, models.Lease)
    assert (lease.expires_at - lease.reserved_at).total_seconds() == 300
    assert lease.expires_at.tzinfo is not None
    request = models.FinishRequest(token=lease.token, result={"stars": 4})
    finished = send("work.finish", q=q, id=lease.id, body=request).parsed
    assert finished == models.Finished(id=lease.id, late=False, replayed=False, next_=None)
    item = send("items.get_item", q=q, id="r-1").parsed
    assert item.due == datetime(2027, 1, 2, tzinfo=UTC)


def test_it_works_a_queue_to_its_end(
    generated: Callable[[str], Any], send: Callable[..., Any], queue: leaseq.Queue
) -> None:
    models, q = generated("models"), queue.name
    queue.configure()
    items = [models.NewItem(payload={"n": n}, id=f"r-{n}") for n in range(5)]
    assert send("items.enqueue", q=q, body=items).parsed == models.EnqueuedMany(added=5, duplicates=0)
    lease = send("work.reserve", q=q, body=models.ReserveRequest(wait=1)).parsed
    renewed = send("work.renew", q=q, id=lease.id, body=models.TokenRequest(token=lease.token)).parsed
    assert (renewed.token, renewed.expires_at >= lease.expires_at) == (lease.token, True)
    (mine,) = send("work.mine", q=q).parsed.leases
    assert (mine.id, mine.token) == ("r-0", lease.token)
    bad = send("work.finish", q=q, id=lease.id, body=models.FinishRequest(token=99, result=1))
    assert (bad.status_code, bad.parsed.code) == (409, "lease-lost")
    reject = models.FailRequest(token=lease.token, error="cut off", retry=False, then_reserve=True)
    failed = send("work.fail", q=q, id=lease.id, body=reject).parsed
    assert (failed.id, failed.retry_at, failed.next_.id) == ("r-0", None, "r-1")
    back = models.AbandonRequest(token=failed.next_.token, reason="later", then_reserve=True)
    abandoned = send("work.abandon", q=q, id="r-1", body=back).parsed
    assert (abandoned.id, abandoned.next_.payload) == ("r-1", {"n": 2})
    lease, finished = abandoned.next_, list[str]()
    while lease:
        request = models.FinishRequest(token=lease.token, result={"ok": True}, then_reserve=True)
        finished.append(lease.id)
        lease = send("work.finish", q=q, id=lease.id, body=request).parsed.next_
    assert finished == ["r-2", "r-3", "r-4", "r-1"]
    nothing = send("work.reserve", q=q, body=models.ReserveRequest())
    assert (nothing.status_code, nothing.parsed) == (204, None)
    assert nothing.headers["X-Leaseq-Reason"] == "empty"
    listed = {
        state: [
            item.id for item in send("items.list_items", q=q, state=models.ListItemsState(state)).parsed.items
        ]
        for state in ("inbound", "reserved", "finished", "dead")
    }
    assert listed == {"inbound": [], "reserved": [], "finished": finished, "dead": ["r-0"]}
    new = send("manage.new_answers", q=q, limit=3).parsed
    rest = send("manage.new_answers", q=q, after=new.after).parsed
    assert [one.id for one in (*new.answers, *rest.answers)] == finished
    assert (new.more, rest.more, rest.answers[0].result) == (True, False, {"ok": True})
    stats = send("queues.stats", q=q).parsed
    assert (stats.inbound, stats.reserved, stats.finished, stats.dead) == (0, 0, 4, 1)


def test_the_example_of_the_docs_works(
    generated: Callable[[str], Any],
    place: str,
    manager: Caller,
    queue: leaseq.Queue,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOKEN", manager.token)
    (code,) = blocks("docs/rest.md", "python")
    for shown, here in {
        "leaseq_client": generated("client").__package__,
        "http://127.0.0.1:8000": place,
        '"reviews"': repr(queue.name),
    }.items():
        code = code.replace(shown, here)
    queue.enqueue({"text": "Never came"}, id="r-1")
    exec(compile(code, "docs/rest.md", "exec"), {})
    assert f"r-1 {manager.name} " in capsys.readouterr().out
    assert (queue.stats().finished, queue.stats().inbound, queue.policy.lease_seconds) == (2, 0, 120)


def test_what_it_makes_has_names_that_people_gave(folder: Path) -> None:
    names = {path.stem for path in (folder / PACKAGE / "models").glob("*.py")}
    assert names >= {"new_item", "enqueued", "enqueued_many", "lease", "finished", "policy", "policy_changes"}
    made_up = re.compile(r"type_?\d|_model|json_body|_body$|response_\d")
    assert [name for name in names if made_up.search(name)] == []
