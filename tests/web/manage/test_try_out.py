"""The page *Try it out*: one item is added by a form, and simulated people work."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.simulation import Outcome, Plan
from leaseq.webapp.services import queues
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.jobs.simulations import SILENT_SECONDS, Simulations
from tests.support.waiting import eventually
from tests.web.conftest import Browser

PLAN = {"people": "2", "think": "1", "minutes": "1", "abandon": "0", "fail": "0", "walk_away": "0"}


@pytest.fixture
def letters(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(title="Letters")
    queue.enqueue({"text": "Dear all,", "pages": 2}, id="first")
    return queue


@pytest.fixture
def simulations(app: Flask) -> Simulations:
    store: Simulations = app.extensions["leaseq"].simulations
    return store


def url(queue: leaseq.Queue, *rest: str) -> str:
    return "/".join(("/manage", queue.name, *rest))


def test_item_is_added_with_fields_of_existing_items(letters: leaseq.Queue, manager_browser: Browser) -> None:
    page = manager_browser.get(url(letters, "try")).text
    assert 'name="text.text"' in page
    assert 'name="value.pages"' in page  # it is a number in the waiting item
    fields = {
        "text.text": "Dear\r\nyou,",
        "value.pages": "3",
        "id": "mine",
        "priority": "7",
        "requires": "de fr",
        "confirmed": "yes",  # nobody has them
    }
    assert manager_browser.post(url(letters, "items"), fields).location == url(letters, "try")
    item = letters.get("mine")
    assert item.payload == {"text": "Dear\nyou,", "pages": 3}
    assert (item.priority, item.requires) == (7, ("de", "fr"))
    assert "Added: Dear you," in manager_browser.get(url(letters, "try")).text


def test_an_item_that_is_sent_twice_is_added_once(letters: leaseq.Queue, manager_browser: Browser) -> None:
    fields = {"text.text": "Dear sir,", "request_id": "0123456789abcdef"}
    for _ in range(2):
        manager_browser.post(url(letters, "items"), fields)
    assert letters.stats().inbound == 2


def test_item_with_existing_id_is_not_added(letters: leaseq.Queue, manager_browser: Browser) -> None:
    manager_browser.post(url(letters, "items"), {"text.text": "Dear sir,", "id": "first"})
    assert "The queue already has this item: Dear sir," in manager_browser.get(url(letters, "try")).text
    assert letters.get("first").payload == {"text": "Dear all,", "pages": 2}


def test_json_replaces_form_fields(letters: leaseq.Queue, manager_browser: Browser) -> None:
    manager_browser.post(url(letters, "items"), {"text.text": "", "json": '["a", {"b": 1}]', "id": "j"})
    assert letters.get("j").payload == ["a", {"b": 1}]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Fill in at least one field"),
        ({"text.text": " "}, "Fill in at least one field"),
        ({"value.pages": "three"}, "pages"),
        ({"json": "{"}, "json"),
        ({"text.text": "kept words", "priority": "-1"}, "Priority"),
        ({"text.text": "kept words", "priority": "99999999"}, "Priority"),
        ({"text.text": "kept words", "id": "x" * 300}, "Id"),
        ({"text.text": "kept words", "requires": "x" * 300}, "Skills"),
        ({"text.text": "kept words", "request_id": "x" * 300}, "request_id"),
    ],
)
def test_refused_item_is_kept_in_form(
    letters: leaseq.Queue, manager_browser: Browser, fields: dict[str, str], message: str
) -> None:
    response = manager_browser.post(url(letters, "items"), fields)
    assert response.status_code == 400
    page = html.unescape(response.text)
    assert message in page.split('role="alert"')[1].split("</p>")[0]
    assert all(text.strip() in page for text in fields.values())
    assert letters.stats().inbound == 1


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("confirmed", "", "Confirm that the simulated answers are kept"),
        ("people", "0", "people: expected a whole number from 1 to 50"),
        ("people", "51", "people: expected a whole number from 1 to 50"),
        ("think", "soon", "think: expected a whole number from 1 to 600"),
        ("minutes", "3", "minutes: expected one of 1, 2, 5, 10"),
        ("abandon", "101", "abandon: expected a whole number from 0 to 100"),
        ("walk_away", "-1", "walk_away: expected a whole number from 0 to 100"),
        ("fail", "100.5", "fail: expected a whole number from 0 to 100"),
    ],
)
def test_invalid_simulation_is_refused(
    letters: leaseq.Queue,
    manager_browser: Browser,
    simulations: Simulations,
    field: str,
    value: str,
    message: str,
) -> None:
    response = manager_browser.post(url(letters, "simulate"), {**PLAN, "confirmed": "yes", field: value})
    assert response.status_code == 400
    assert message in html.unescape(response.text)
    assert simulations.latest(letters.name) is None


def test_rates_above_100_percent_are_refused(letters: leaseq.Queue, manager_browser: Browser) -> None:
    fields = {**PLAN, "confirmed": "yes", "abandon": "60", "walk_away": "60"}
    response = manager_browser.post(url(letters, "simulate"), fields)
    assert (response.status_code, "together at most" in response.text) == (400, True)


def test_simulated_people_finish_waiting_items(letters: leaseq.Queue, simulations: Simulations) -> None:
    plan = Plan(people=2, think=0, abandon_rate=0, fail_rate=0, walk_away_rate=0, seconds=30)
    queues.start_simulation(simulations, letters, plan, "ann").join(30)
    run = simulations.latest(letters.name)
    assert run is not None
    assert (run.running, run.outcome.finished, run.outcome.left, run.error) == (False, 1, 0, "")
    assert letters.get("first").answers


def test_a_simulation_is_stopped_on_its_page(
    letters: leaseq.Queue, manager_browser: Browser, simulations: Simulations
) -> None:
    thread = queues.start_simulation(simulations, letters, Plan(people=1, think=600), manager_browser.name)
    assert "1 simulated person is working." in manager_browser.get(url(letters, "try")).text
    response = manager_browser.post(url(letters, "simulate"), {**PLAN, "confirmed": "yes"})
    assert (response.status_code, "working already" in response.text) == (400, True)
    manager_browser.post(url(letters, "simulate", "stop"))
    thread.join(30)
    assert not thread.is_alive()
    assert letters.get("first").state == "inbound"  # given back, not left to expire
    assert "The latest simulation is over." in manager_browser.get(url(letters, "try")).text


def test_stop_all_ends_running_simulation(letters: leaseq.Queue, simulations: Simulations) -> None:
    thread = queues.start_simulation(simulations, letters, Plan(people=1, think=600), "ann")
    queues.stop_simulations()
    thread.join(30)
    assert not thread.is_alive()
    run = simulations.latest(letters.name)
    assert run is not None
    assert not run.running


def test_simulation_reports_unanswerable_form(letters: leaseq.Queue, simulations: Simulations) -> None:
    ask: Any = {
        "type": "object",
        "required": ["x"],
        "properties": {"x": {"type": "string", "pattern": "^[0-9]{9}$"}},
    }
    letters.configure(form={"ask": ask})
    queues.start_simulation(simulations, letters, Plan(seconds=30), "ann").join(30)
    run = simulations.latest(letters.name)
    assert run is not None
    assert "no answer can be made up" in run.error


def test_simulation_of_crashed_process_ends_after_timeout(
    letters: leaseq.Queue, simulations: Simulations, server: Any
) -> None:
    id = simulations.begin(letters.name, "ann", Plan())
    assert id is not None
    assert simulations.begin(letters.name, "bob", Plan()) is None
    key = f"leaseq:{{@simulations}}:running:{letters.name}"
    assert 0 < server.redis.ttl(key) <= SILENT_SECONDS
    server.redis.delete(key)  # as if its time were over
    assert not simulations.report(letters.name, id, Outcome(1))
    second = simulations.begin(letters.name, "bob", Plan())
    assert second is not None
    simulations.end(letters.name, id, Outcome(9), "too late")  # from the first, which somebody had stopped
    run = simulations.latest(letters.name)
    assert run is not None
    assert (run.by, run.running, run.outcome, run.error) == ("bob", True, Outcome(0), "")
    simulations.stop(letters.name)


def test_audit_log_contains_added_items_and_simulations(
    letters: leaseq.Queue, manager_browser: Browser, accounts: Accounts
) -> None:
    manager_browser.post(url(letters, "items"), {"text.text": "Dear log,", "id": "logged"})
    manager_browser.post(url(letters, "simulate"), {**PLAN, "confirmed": "yes"})
    manager_browser.post(url(letters, "simulate", "stop"))
    entries = accounts.log.page(limit=3, person=manager_browser.name).entries
    assert {(one.what, one.about) for one in entries} == {
        ("item.added", f"{letters.name} / logged"),
        ("queue.simulated", letters.name),
        ("queue.simulation-stopped", letters.name),
    }


def test_simulation_uses_short_lease_time_and_restores_original(
    letters: leaseq.Queue, manager_browser: Browser, simulations: Simulations
) -> None:
    letters.configure(lease_seconds=300)
    page = manager_browser.get(url(letters, "try")).text
    assert re.search(r'id="lease" name="lease" value="20"', page), "so that people see one run out"
    assert "5 min, applies again" in page
    thread = queues.start_simulation(
        simulations, letters, Plan(people=1, think=600), manager_browser.name, 20
    )
    eventually(lambda: letters.stats().reserved == 1, "the item is held")
    assert letters.policy.lease_seconds == 20

    def is_shown() -> bool:
        fragment = manager_browser.get(url(letters, "try"), headers={"X-Leaseq-Fragment": "state"}).text
        return re.search(r'<td class="person">sim-1</td>.*?<progress max="20', fragment, re.S) is not None

    eventually(is_shown, "it shows who holds what, with the time left")
    manager_browser.post(url(letters, "simulate", "stop"))
    thread.join(30)
    assert letters.policy.lease_seconds == 300


@pytest.mark.parametrize(("set_by_hand", "after"), [(None, 300), (60, 60)])
def test_page_restores_lease_time_after_crashed_simulation(
    letters: leaseq.Queue,
    manager_browser: Browser,
    simulations: Simulations,
    set_by_hand: int | None,
    after: int,
) -> None:
    simulations.begin(letters.name, "ann", Plan(), (300, 20))
    letters.configure(lease_seconds=set_by_hand or 20)
    manager_browser.get(url(letters, "try"))
    assert letters.policy.lease_seconds == (set_by_hand or 20), "it is running"
    simulations.stop(letters.name)
    manager_browser.get(url(letters, "try"))
    assert letters.policy.lease_seconds == after


@pytest.mark.parametrize("lease", ["4", "3601", "x"])
def test_invalid_lease_time_of_simulation_is_refused(
    letters: leaseq.Queue, manager_browser: Browser, lease: str
) -> None:
    response = manager_browser.post(url(letters, "simulate"), {**PLAN, "confirmed": "yes", "lease": lease})
    assert response.status_code == 400
    assert "from 5 to 3,600" in response.text
    assert re.search(rf'name="lease" value="{lease}"[^>]* aria-invalid', response.text)
