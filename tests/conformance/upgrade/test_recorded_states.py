"""The current library reads each recorded state, and finishes all items of its queues."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyotp
import pytest
import redis

import leaseq
from leaseq.engine.keys import SCHEMA
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from tests.conformance.topology.servers import port_of, running
from tests.conformance.upgrade.dump import lines, load
from tests.conformance.upgrade.scenario import PEOPLE
from tests.conformance.upgrade.snapshot import differences, snapshot
from tests.conftest import Clock
from tests.meta.docs.test_inspecting import events, key_parts, letters
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD

STATES = sorted((Path(__file__).parent / "states").glob("*.jsonl"), key=lambda path: path.stem)
ROUNDS = 400


@dataclass
class State:
    """A recorded state, loaded into a server of its own."""

    facts: dict[str, Any]
    keys: list[str]
    client: leaseq.Client
    clocks: dict[str, Clock]

    @property
    def redis(self) -> Any:
        assert isinstance(self.client.redis, redis.Redis)
        return self.client.redis

    def queue(self, name: str) -> leaseq.Queue:
        return leaseq.Queue(self.client, name, clock=self.clocks[name])


@contextmanager
def valkey() -> Iterator[str]:
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as server,
    ):
        yield server.url


@contextmanager
def debian() -> Iterator[str]:
    with running("--save", "", binary=REDIS) as server:
        yield f"redis://127.0.0.1:{port_of(server)}"


REDIS = shutil.which("redis-server")
ENGINES = [
    pytest.param(valkey, id="valkey"),
    pytest.param(
        debian,
        id="redis",
        marks=pytest.mark.skipif(not REDIS, reason="platform: there is no redis-server on the PATH"),
    ),
]


@pytest.fixture(scope="module", params=ENGINES)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with request.param() as url:
        yield url


@pytest.fixture(params=STATES, ids=lambda path: path.stem)
def state(request: pytest.FixtureRequest, url: str) -> Iterator[State]:
    head, *keys = request.param.read_text(encoding="utf-8").splitlines()
    client = leaseq.connect(url)
    facts = json.loads(head)
    clocks = {name: Clock(now) for name, now in facts["clocks"].items()}
    recorded_state = State(facts, keys, client, clocks)
    recorded_state.redis.flushall()  # the server is used by this file only
    load(recorded_state.redis, keys)
    yield recorded_state
    client.close()


def test_loading_and_reading_a_state_changes_nothing(state: State) -> None:
    assert list(lines(state.redis)) == state.keys


def test_state_reads_the_same_as_when_recorded(state: State) -> None:
    assert not differences(state.facts["seen"], snapshot(state.client, state.clocks))


def test_schema_of_state_is_supported(state: State) -> None:
    assert state.facts["schema"] <= SCHEMA
    for name in leaseq.queues(state.client):
        assert state.queue(name).schema == state.facts["schema"]


def answers(queue: leaseq.Queue) -> dict[tuple[str, int, str], Any]:
    return {(one.id, one.token, one.person): one.result for one in queue.answers(with_late=True)}


def result_of(person: str) -> dict[str, object]:
    return {"ok": True, "by": person}


def work(queue: leaseq.Queue, clock: Clock) -> None:
    """Let all people work, with time passing, until no item is left."""
    for _ in range(ROUNDS):
        stats = queue.stats()
        if not (stats.inbound or stats.reserved or stats.scheduled):
            return
        for person, skills in PEOPLE.items():
            lease = queue.reserve(person, skills=skills)
            if lease is not None:
                queue.finish(lease, result_of(person))
        clock.tick(600)
        queue.clear()
    raise AssertionError(f"{queue.name} still has items: {queue.stats()}")


def is_complete(item: leaseq.Item, policy: leaseq.Policy) -> bool:
    people = [answer.person for answer in item.answers]
    return len(people) == policy.answers == len(set(people)) or item.state == "dead"


@pytest.mark.parametrize("in_time", [True, False], ids=["finished in time", "expired"])
def test_all_items_of_state_can_be_finished(state: State, in_time: bool) -> None:
    for name, facts in state.facts["seen"].items():
        queue = state.queue(name)
        clock = state.clocks[name]
        queue.resume()
        queue.configure(keep_finished_seconds=None)
        expected_answers = answers(queue)
        if not in_time:
            clock.tick(400)
        for person, leases in facts["held"].items():
            for lease in leases:
                arguments = {"id": lease["id"], "token": lease["token"], "person": person}
                if lease["draft"] is not None:
                    queue.save_draft(**arguments, draft={"more": lease["draft"]})
                outcome = queue.finish(**arguments, result=result_of(person))
                assert (outcome.late, outcome.replayed) == (not in_time, False)
                assert queue.finish(**arguments, result=result_of(person)).replayed
                expected_answers[lease["id"], lease["token"], person] = result_of(person)
        work(queue, clock)
        dead_ids = [item.id for item in queue.items("dead")]
        closed_ids = {event.id for event in queue.journal(limit=10_000) if event.what == "closed"}
        ids = [id for id in facts["items"] if id not in closed_ids]
        assert all(is_complete(queue.get(id), queue.policy) for id in ids)
        assert queue.revive_all() == len(set(dead_ids))
        work(queue, clock)
        items = {id: queue.get(id) for id in facts["items"]}
        assert {item.state for item in items.values()} == {"finished"}
        assert all(is_complete(items[id], queue.policy) for id in ids)
        present_answers = answers(queue)
        assert expected_answers.items() <= present_answers.items(), "an answer is missing"
        tokens = [token for _, token, _ in present_answers]
        assert len(set(tokens)) == len(tokens)
        assert queue.stats().counters["finished"] >= facts["stats"]["finished"]


def test_drafts_late_answers_and_duplicates_of_state_still_count(state: State) -> None:
    """Drafts are restored, late answers adopted, duplicates recognized, and old items deleted."""
    plain_queue, items = state.queue("plain"), state.facts["seen"]["plain"]["items"]
    late_id = next(id for id, item in items.items() if item["late_answers"])
    adopted_item = plain_queue.adopt(late_id, items[late_id]["late_answers"][0]["token"])
    assert adopted_item.answers[0].result == items[late_id]["late_answers"][0]["result"]
    drafts = []
    while lease := plain_queue.reserve("ann"):
        drafts.append(lease.draft)
        plain_queue.finish(lease, result_of("ann"))
    assert {"typed": "before it ran out"} in drafts
    window = state.queue("window")
    assert window.enqueue({"n": 5}, id="new").id == "5"
    state.clocks["window"].tick(4_000)
    assert window.clear().forgotten == 0, "the reader has not read the events that finished them"
    group = state.redis.xreadgroup("archive", "one", {"leaseq:{window}:journal": ">"})
    pending = state.redis.xreadgroup("archive", "one", {"leaseq:{window}:journal": "0"})
    assert len(pending[0][1]) == len(group[0][1]) + 1
    state.redis.xack("leaseq:{window}:journal", "archive", *(id for id, _ in pending[0][1]))
    assert window.clear().forgotten == 3


def test_stale_waiting_calls_of_state_do_not_block_reserve(state: State) -> None:
    queue = state.queue("line")
    assert queue.stats().waiting == 2
    state.clocks["line"].tick(10)
    assert queue.reserve("eva", wait=30) is not None


def test_accounts_of_state_still_work(state: State) -> None:
    accounts, facts = Accounts(state.client, passwords=CHEAP_PASSWORDS), state.facts["accounts"]
    names = {person.name: (person.role, person.skills, person.disabled) for person in accounts.people()}
    assert names == {
        "meg": ("admin", (), False),
        "ann": ("worker", ("fr", "legal"), False),
        "b b": ("manager", (), False),
        "gone": ("worker", (), True),
        "carol": ("worker", (), False),
    }
    assert accounts.verify("ann", PASSWORD)
    caller = accounts.caller(facts["token"])
    assert caller is not None
    assert (caller.person.name, caller.token.queue) == ("ann", "plain")
    session = accounts.sessions.person(facts["session"])
    assert session is not None
    assert session.name == "ann"
    moment = time.time() + 30  # a code not used yet, even if the state was just recorded
    code = pyotp.TOTP(facts["factor"]).at(moment)
    assert accounts.factors.accepts("b b", code)
    assert accounts.factors.accepts("b b", facts["recovery"])
    assert accounts.password_link_owner(facts["link"]) == "b b"
    assert accounts.use_link(facts["link"], PASSWORD).has_password
    assert accounts.accept(facts["invitation"], "", PASSWORD).skills == ("fr",)
    assert (
        accounts.authenticate_by_provider("carol", "https://idp.example.org 42", create=False).name == "carol"
    )
    assert len(accounts.log.latest(50)) >= facts["log"]
    that_day = datetime.fromisoformat(facts["day"]).replace(tzinfo=UTC).timestamp()
    totals = Activity(state.client, clock=lambda: that_day).of_all_people()
    assert totals["ann"]["plain"].finished == 1


def test_latest_state_contains_every_kind_of_data() -> None:
    """An upgrade is only tested for what the latest state contains."""
    text = STATES[-1].read_text(encoding="utf-8")
    queues = json.loads(text.splitlines()[0])["seen"]
    keys = {json.loads(line)["key"] for line in text.splitlines()[1:]}
    parts = {
        key.split("}:")[1].split(":")[0] for key in keys if key.startswith("leaseq:{") and "@" not in key
    }
    absent_keys = {
        "wake",
        "absent",
        "deleted",
    }  # a channel, a key that never exists, and the mark of a deleted queue
    assert key_parts() - parts == absent_keys
    heads = [
        record.partition("\n")[0]
        for line in text.splitlines()[1:]
        if (key_record := json.loads(line))["key"].endswith("}:items")
        for record in key_record["content"].values()
    ]
    assert {letter for head in heads for letter in re.findall(r" (\w)", head)} == letters()
    held_leases = [
        lease for queue in queues.values() for leases in queue["held"].values() for lease in leases
    ]
    assert {lease["draft"] is None for lease in held_leases} == {True, False}
    kinds = {event["what"] for queue in queues.values() for event in queue["journal"]}
    assert kinds == events()
