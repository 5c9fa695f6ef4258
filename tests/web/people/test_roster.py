"""The list of people for a team of hundreds: what each does, sorted, searched, and many changed at once."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Flask

import leaseq
from leaseq.webapp.context import State
from leaseq.webapp.people.live import Listing, PeopleChannel, PeopleWatcher
from leaseq.webapp.realtime.stream import Stream
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.breaks import Breaks
from leaseq.webapp.store.queue_access import Access, Group
from tests.support.taking import take
from tests.web.conftest import Browser
from tests.web.item_lists import rows, text_of


def shown(root: Browser, team: list[str], **criteria: str) -> list[str]:
    """Who of the team is shown, in their order."""
    page = root.get("/people", query_string={"team": team[0][:-4], **criteria}).text
    return re.findall(r'name="name" value="([^"]+)" form="chosen"', page)


def test_what_each_does_now(
    root: Browser, visitor: Callable[[str], Browser], asking: leaseq.Queue, team: list[str], state: State
) -> None:
    ann, bob, eva = team
    take(asking, ann)
    state.breaks.take(bob)
    lines = rows(root.get(f"/people?team={ann[:-4]}").text).split("\n")
    doing = {name: next(line for line in lines if name in line) for name in team}
    assert f"My parcel is not here in {asking.name} for 0 s" in doing[ann]
    assert "on a break for 0 s" in doing[bob]
    assert "idle" in doing[eva]
    for which, names in (("working", [ann]), ("break", [bob]), ("idle", [eva]), ("disabled", [])):
        assert shown(root, team, state=which) == names, which
    assert shown(root, team, sort="state") == [ann, bob, eva]


def test_a_break_ends_by_taking_an_item_and_after_a_day(
    root: Browser, asking: leaseq.Queue, team: list[str], server: Any, state: State
) -> None:
    ann = team[0]
    Breaks(server.client, clock=lambda: 1_000_000.0).take(ann)
    assert state.breaks.of(ann) is None, "forgotten long ago"
    state.breaks.take(ann)
    assert shown(root, team, state="break") == [ann]
    ahead = leaseq.Queue(server.client, asking.name, clock=lambda: int((state.breaks._clock() + 5) * 1e6))
    assert ahead.reserve(ann)
    assert shown(root, team, state="break") == []
    assert shown(root, team, state="working") == [ann]


def test_a_break_does_not_come_back_when_the_item_is_done(
    person: Browser, asking: leaseq.Queue, state: State
) -> None:
    asking.enqueue({"text": "a letter"})
    state.breaks.take(person.name)
    assert person.post(f"/q/{asking.name}/reserve", page=f"/q/{asking.name}").status_code == 303
    assert state.breaks.of(person.name) is None


def test_somebody_takes_a_break_and_is_back(person: Browser, asking: leaseq.Queue, state: State) -> None:
    take(asking, person.name)
    before = text_of(person.get("/break").text)
    assert "Take a break" in before
    assert "My parcel is not here" in before, "what they hold runs out meanwhile"
    assert person.post("/break", page="/break").status_code == 303
    since = state.breaks.of(person.name)
    assert person.post("/break", page="/break").status_code == 303
    assert state.breaks.of(person.name) == since, "the second press changes nothing"
    assert "You are on a break" in person.get("/break").text
    assert person.post("/break/end", page="/break").status_code == 303
    assert state.breaks.of(person.name) is None


def test_sorted_by_each_heading(root: Browser, team: list[str], state: State) -> None:
    ann, bob, eva = team
    for number, name in enumerate((bob, bob, eva)):
        active = 10_000 if name == bob else 60_000
        state.activity.record(name, "letters", "finished", id=str(number), token=number, active_ms=active)
    state.activity.record(ann, "letters", "gave_back", id="x", token=9)
    assert shown(root, team) == [ann, bob, eva]
    assert shown(root, team, sort="done") == [bob, eva, ann]
    assert shown(root, team, sort="each") == [eva, bob, ann]
    assert shown(root, team, sort="back")[0] == ann
    assert shown(root, team, sort="no such order") == [ann, bob, eva]
    page = root.get(f"/people?sort=done&team={ann[:-4]}").text
    assert re.search(r'aria-sort="descending"><a href="[^"]*sort=done', page)


def test_each_heading_sorts_both_ways(root: Browser, team: list[str], state: State) -> None:
    ann, bob, eva = team
    for number, name in enumerate((bob, bob, eva)):
        state.activity.record(name, "letters", "finished", id=f"h{number}", token=number)
    for sort, first, then in (("hour", "down", "up"), ("name", "up", "down")):
        page = html.unescape(root.get(f"/people?sort={sort}&team={ann[:-4]}").text)
        assert f"sort={sort}&order={then}" in page, "the heading turns it around"
        assert shown(root, team, sort=sort) == shown(root, team, sort=sort, order=first)
        assert shown(root, team, sort=sort, order=then)[0] == (ann if sort == "hour" else eva)
        turned = root.get("/people", query_string={"sort": sort, "order": then, "team": ann[:-4]}).text
        assert f'aria-sort="{"ascending" if then == "up" else "descending"}"' in turned
    assert shown(root, team, sort="hour") == [bob, eva, ann]


def test_what_is_done_in_the_last_hour(server: Any, team: list[str], queue: leaseq.Queue) -> None:
    ann, bob, _ = team
    now = 1_900_000_000.0
    for minutes, name in ((59, ann), (5, ann), (5, bob), (65, bob)):
        earlier = Activity(server.client, clock=partial(float, now - 60 * minutes))
        earlier.record(name, queue.name, "finished", id=f"m{minutes}", token=minutes)
        earlier.record(name, queue.name, "gave_back", id=f"b{minutes}", token=minutes)
        earlier.flush()
    activity = Activity(server.client, clock=lambda: now)
    assert {name: activity.last_hour()[name] for name in (ann, bob)} == {
        ann: {queue.name: 2},
        bob: {queue.name: 1},
    }
    activity.take_off(ann, queue.name, id="m5", token=5)
    assert activity.last_hour()[ann] == {queue.name: 1}, "an answer that was undone"


def test_the_list_is_kept_up_to_date_for_who_watches_it(
    app: Flask, root: Browser, asking: leaseq.Queue, team: list[str], state: State
) -> None:
    ann = team[0]
    now = [0.0]
    with app.test_request_context(f"/people?team={ann[:-4]}&sort=done"):
        listed = Listing.of_request()
    channel = PeopleChannel(state, clock=lambda: now[0])
    watcher = PeopleWatcher(Stream(), lambda: True, root.name, listed)

    def sent() -> list[dict[str, Any]]:
        channel.serve([watcher])
        stream, watcher.stream = watcher.stream, Stream()
        stream.end()
        now[0] += 2
        return [
            json.loads(line[6:])
            for line in bytes(stream._buffer).decode().split("\n")
            if line[:6] == "data: "
        ]

    (first,) = sent()
    assert [one["name"] for one in first["people"]] == team
    assert (first["working"], first["last_hour"]) == (0, 0)
    assert sent() == [], "nothing has changed"
    lease = take(asking, ann)
    state.activity.record(team[2], asking.name, "finished", id="x", token=1, active_ms=30_000)
    (second,) = sent()
    assert [one["name"] for one in second["people"]] == [team[2], ann, team[1]], (
        "in the order that is asked for"
    )
    working = second["people"][1]
    assert (working["doing"], working["queue"], working["id"]) == ("working", asking.name, lease.id)
    assert working["title"] == "My parcel is not here"
    assert {second[name] for name in ("working", "last_hour", "done")} == {1}
    same = root.get(f"/people?team={ann[:-4]}&sort=done", headers={"Accept": "application/json"}).json
    assert same["people"] == second["people"], "and where there is no stream"


def test_who_may_see_less_by_now_is_shown_less(
    app: Flask, root: Browser, team: list[str], state: State, accounts: Accounts
) -> None:
    with app.test_request_context(f"/people?team={team[0][:-4]}"):
        watcher = PeopleWatcher(Stream(), lambda: True, root.name, Listing.of_request())
    accounts.add(f"{team[0]} root", by="test", role="admin", password="correct horse battery")
    accounts.change(root.name, by="test", role="worker")
    PeopleChannel(state).serve([watcher])
    assert b'"people":[]' in bytes(watcher.stream._buffer)


def test_who_may_work_on_a_queue(root: Browser, team: list[str], queue: leaseq.Queue, state: State) -> None:
    queue.configure()
    state.access.set(queue.name, Access(Group(people=(team[1],))))
    assert shown(root, team, queue=queue.name) == [team[1]]
    assert shown(root, team, queue="") == team
    state.access.set(queue.name, Access())
