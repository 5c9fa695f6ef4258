"""The list of people: current activity, sorting, filters, breaks and live updates."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.context import State
from leaseq.webapp.people.index import Listing, PeopleChannel, PeopleWatcher
from leaseq.webapp.realtime.poller import AccessCheck, Stream
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity, Breaks
from leaseq.webapp.store.queue_access import Access, Group
from tests.support.leases import take
from tests.web.conftest import Browser, Caller
from tests.web.elements import table_rows, text_of


def list_names(admin_browser: Browser, team: list[str], **criteria: str) -> list[str]:
    """The names of the team's people that are shown, in order."""
    page = admin_browser.get("/people", query_string={"team": team[0][:-4], **criteria}).text
    return re.findall(r'name="name" value="([^"]+)" form="bulk-form"', page)


def test_list_shows_current_activity_of_each_person(
    admin_browser: Browser,
    sign_in_as: Callable[[str], Browser],
    form_queue: leaseq.Queue,
    team: list[str],
    state: State,
) -> None:
    ann, bob, eva = team
    take(form_queue, ann)
    state.breaks.take(bob)
    lines = map(" ".join, table_rows(admin_browser.get(f"/people?team={ann[:-4]}").text))
    line_of = {name: line for line in lines for name in team if name in line}
    assert "My parcel is not here Triage , 0 s" in line_of[ann]
    assert "on a break for 0 s" in line_of[bob]
    assert "idle" in line_of[eva]
    for state_name, names in (("working", [ann]), ("break", [bob]), ("idle", [eva]), ("disabled", [])):
        assert list_names(admin_browser, team, state=state_name) == names, state_name
    assert list_names(admin_browser, team, sort="state") == [ann, bob, eva]


def test_break_ends_on_reserve_and_after_a_day(
    admin_browser: Browser, form_queue: leaseq.Queue, team: list[str], server: Any, state: State
) -> None:
    ann = team[0]
    Breaks(server.client, clock=lambda: 1_000_000.0).take(ann)
    assert state.breaks.get(ann) is None, "expired long ago"
    state.breaks.take(ann)
    assert list_names(admin_browser, team, state="break") == [ann]
    later_queue = leaseq.Queue(
        server.client, form_queue.name, clock=lambda: int((state.breaks._clock() + 5) * 1e6)
    )
    assert later_queue.reserve(ann)
    assert list_names(admin_browser, team, state="break") == []
    assert list_names(admin_browser, team, state="working") == [ann]


def test_reserving_on_page_ends_break(
    worker_browser: Browser, form_queue: leaseq.Queue, state: State
) -> None:
    form_queue.enqueue({"text": "a letter"})
    state.breaks.take(worker_browser.name)
    assert (
        worker_browser.post(f"/q/{form_queue.name}/reserve", page=f"/q/{form_queue.name}").status_code == 303
    )
    assert state.breaks.get(worker_browser.name) is None


@pytest.mark.parametrize("wait", [0, 1])
def test_reserving_by_rest_ends_break(
    worker: Caller, form_queue: leaseq.Queue, state: State, wait: float
) -> None:
    state.breaks.take(worker.name)
    assert worker("POST", f"/queues/{form_queue.name}/reserve", json={"wait": wait}).status_code == 200
    assert state.breaks.get(worker.name) is None


def test_getting_next_item_ends_break(worker: Caller, form_queue: leaseq.Queue, state: State) -> None:
    lease = take(form_queue, worker.name)
    path = f"/queues/{form_queue.name}/items/{lease.id}/finish"
    body = {"token": lease.token, "result": {"about": "delivery", "urgent": True}}
    state.breaks.take(worker.name)
    assert worker("POST", path, json=body).status_code == 200
    assert state.breaks.get(worker.name) is not None, "nothing was taken"
    lease = take(form_queue, worker.name)
    path, body = f"/queues/{form_queue.name}/items/{lease.id}/fail", {"token": lease.token, "error": "torn"}
    form_queue.enqueue({"text": "a letter"})
    assert worker("POST", path, json={**body, "then_reserve": True}).json["next"] is not None
    assert state.breaks.get(worker.name) is None


def test_person_starts_and_ends_break(
    worker_browser: Browser, form_queue: leaseq.Queue, state: State
) -> None:
    take(form_queue, worker_browser.name)
    before = text_of(worker_browser.get("/break").text)
    assert "Take a break" in before
    assert "My parcel is not here" in before, "their leases run out in that time"
    assert worker_browser.post("/break", page="/break").status_code == 303
    since = state.breaks.get(worker_browser.name)
    assert worker_browser.post("/break", page="/break").status_code == 303
    assert state.breaks.get(worker_browser.name) == since, "pressing it again changes nothing"
    assert "You are on a break" in worker_browser.get("/break").text
    assert worker_browser.post("/break/end", page="/break").status_code == 303
    assert state.breaks.get(worker_browser.name) is None


def test_list_is_sorted_by_each_heading(admin_browser: Browser, team: list[str], state: State) -> None:
    ann, bob, eva = team
    for number, name in enumerate((bob, bob, eva)):
        active = 10_000 if name == bob else 60_000
        state.activity.record(name, "letters", "finished", id=str(number), token=number, active_ms=active)
    state.activity.record(ann, "letters", "abandoned", id="x", token=9)
    assert list_names(admin_browser, team) == [ann, bob, eva]
    assert list_names(admin_browser, team, sort="done") == [bob, eva, ann]
    assert list_names(admin_browser, team, sort="each") == [eva, bob, ann]
    assert list_names(admin_browser, team, sort="back")[0] == ann
    assert list_names(admin_browser, team, sort="no such order") == [ann, bob, eva]
    page = admin_browser.get(f"/people?sort=done&team={ann[:-4]}").text
    assert re.search(r'aria-sort="descending"><a href="[^"]*sort=done', page)


def test_each_heading_sorts_both_ways(admin_browser: Browser, team: list[str], state: State) -> None:
    ann, bob, eva = team
    for number, name in enumerate((bob, bob, eva)):
        state.activity.record(name, "letters", "finished", id=f"h{number}", token=number)
    for sort, first_order, other_order in (("hour", "down", "up"), ("name", "up", "down")):
        page = html.unescape(admin_browser.get(f"/people?sort={sort}&team={ann[:-4]}").text)
        assert f"sort={sort}&order={other_order}" in page, "the heading reverses the order"
        assert list_names(admin_browser, team, sort=sort) == list_names(
            admin_browser, team, sort=sort, order=first_order
        )
        assert list_names(admin_browser, team, sort=sort, order=other_order)[0] == (
            ann if sort == "hour" else eva
        )
        other_page = admin_browser.get(
            "/people", query_string={"sort": sort, "order": other_order, "team": ann[:-4]}
        ).text
        assert f'aria-sort="{"ascending" if other_order == "up" else "descending"}"' in other_page
    assert list_names(admin_browser, team, sort="hour") == [bob, eva, ann]


def test_activity_counts_items_finished_in_last_hour(
    server: Any, team: list[str], queue: leaseq.Queue
) -> None:
    ann, bob, _ = team
    now = 1_900_000_000.0
    for minutes, name in ((59, ann), (5, ann), (5, bob), (65, bob)):
        earlier_activity = Activity(server.client, clock=partial(float, now - 60 * minutes))
        earlier_activity.record(name, queue.name, "finished", id=f"m{minutes}", token=minutes)
        earlier_activity.record(name, queue.name, "abandoned", id=f"b{minutes}", token=minutes)
        earlier_activity.flush()
    activity = Activity(server.client, clock=lambda: now)
    assert {name: activity.last_hour()[name] for name in (ann, bob)} == {
        ann: {queue.name: 2},
        bob: {queue.name: 1},
    }
    activity.subtract(ann, queue.name, id="m5", token=5)
    assert activity.last_hour()[ann] == {queue.name: 1}, "an answer that was undone"


def test_live_list_sends_changes_to_watchers(
    app: Flask, admin_browser: Browser, form_queue: leaseq.Queue, team: list[str], state: State
) -> None:
    ann = team[0]
    now = [0.0]
    with app.test_request_context(f"/people?team={ann[:-4]}&sort=done"):
        listing = Listing.of_request()
    channel = PeopleChannel(state, clock=lambda: now[0])
    watcher = PeopleWatcher(Stream(), AccessCheck(lambda: True), admin_browser.name, listing)

    def receive() -> list[dict[str, Any]]:
        channel.serve([watcher])
        stream, watcher.stream = watcher.stream, Stream()
        stream.end()
        now[0] += 2
        return [
            json.loads(line[6:])
            for line in bytes(stream._buffer).decode().split("\n")
            if line[:6] == "data: "
        ]

    (first_message,) = receive()
    assert [row["name"] for row in first_message["people"]] == team
    assert (first_message["working"], first_message["last_hour"]) == (0, 0)
    assert receive() == [], "nothing has changed"
    lease = take(form_queue, ann)
    state.activity.record(team[2], form_queue.name, "finished", id="x", token=1, active_ms=30_000)
    (second_message,) = receive()
    assert [row["name"] for row in second_message["people"]] == [team[2], ann, team[1]], (
        "in the requested order"
    )
    working_row = second_message["people"][1]
    assert (working_row["doing"], working_row["queue"], working_row["id"]) == (
        "working",
        form_queue.name,
        lease.id,
    )
    assert working_row["title"] == "My parcel is not here"
    assert {second_message[name] for name in ("working", "last_hour", "done")} == {1}
    figures = admin_browser.get(
        f"/people?team={ann[:-4]}&sort=done", headers={"Accept": "application/json"}
    ).json
    assert figures["people"] == second_message["people"], "also without a stream"


def test_live_list_is_empty_after_loss_of_role(
    app: Flask, admin_browser: Browser, team: list[str], state: State, accounts: Accounts
) -> None:
    with app.test_request_context(f"/people?team={team[0][:-4]}"):
        watcher = PeopleWatcher(Stream(), AccessCheck(lambda: True), admin_browser.name, Listing.of_request())
    accounts.add(f"{team[0]} root", by="test", role="admin", password="correct horse battery")
    accounts.change(admin_browser.name, by="test", role="worker")
    PeopleChannel(state).serve([watcher])
    assert b'"people":[]' in bytes(watcher.stream._buffer)


def test_list_is_filtered_by_access_to_queue(
    admin_browser: Browser, team: list[str], queue: leaseq.Queue, state: State
) -> None:
    queue.configure()
    state.access.set(queue.name, Access(Group(people=(team[1],))))
    assert list_names(admin_browser, team, queue=queue.name) == [team[1]]
    assert list_names(admin_browser, team, queue="") == team
    state.access.set(queue.name, Access())
