"""The list of people for a team of hundreds: what each does, sorted, searched, and many changed at once."""

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
from leaseq.webapp.context import EXTENSION, State
from leaseq.webapp.people import live, many
from leaseq.webapp.people.live import Listed, PeopleChannel, PeopleWatcher
from leaseq.webapp.realtime.stream import Stream
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.breaks import Breaks
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.support.taking import not_none, take
from tests.web.conftest import Browser
from tests.web.item_lists import rows, text_of


@pytest.fixture
def root(visitor: Callable[[str], Browser]) -> Browser:
    return visitor("admin")


@pytest.fixture
def state(app: Flask) -> State:
    found: State = app.extensions[EXTENSION]
    return found


@pytest.fixture
def team(accounts: Accounts, new_name: Callable[[str], str]) -> list[str]:
    """Three people of a team that no other test has, by name."""
    of = new_name("team")
    return [accounts.add(f"{of} {name}", by="test", team=of).name for name in ("ann", "bob", "eva")]


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
        listed = Listed.asked()
    channel = PeopleChannel(state, clock=lambda: now[0])
    watcher = PeopleWatcher(Stream(), lambda: True, root.name, listed)

    def sent() -> list[dict[str, Any]]:
        channel.serve([watcher])
        stream, watcher.stream = watcher.stream, Stream()
        stream.end()
        now[0] += 2
        return [
            json.loads(line[6:])
            for line in bytes(stream._waiting).decode().split("\n")
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
        watcher = PeopleWatcher(Stream(), lambda: True, root.name, Listed.asked())
    accounts.add(f"{team[0]} root", by="test", role="admin", password="correct horse battery")
    accounts.change(root.name, by="test", role="worker")
    PeopleChannel(state).serve([watcher])
    assert b'"people":[]' in bytes(watcher.stream._waiting)


def test_who_may_work_on_a_queue(root: Browser, team: list[str], queue: leaseq.Queue, state: State) -> None:
    queue.configure()
    state.access.set(queue.name, Access(Group(people=(team[1],))))
    assert shown(root, team, queue=queue.name) == [team[1]]
    assert shown(root, team, queue="") == team
    state.access.set(queue.name, Access())


@pytest.mark.parametrize(
    ("act", "value", "field", "after"),
    [
        ("add-skills", "fr es", "skills", [("de", "es", "fr"), ("es", "fr")]),
        ("remove-skills", "de", "skills", [(), ()]),
        ("team", "Refunds", "team", ["Refunds", "Refunds"]),
        ("team", "", "team", ["", ""]),
    ],
)
def test_many_are_changed_at_once(
    root: Browser, accounts: Accounts, team: list[str], act: str, value: str, field: str, after: list[Any]
) -> None:
    ann, bob, eva = team
    accounts.change(ann, by="test", skills=["de"])
    before = accounts.get(eva)
    answer = root.post("/people/many?sort=done", {"name": [ann, bob], "act": act, "value": value})
    assert answer.headers["Location"] == "/people?sort=done"
    assert [getattr(accounts.get(name), field) for name in (ann, bob)] == after
    assert accounts.get(eva) == before
    assert "2 people are changed." in root.get("/people").text


def test_many_are_disabled_and_enabled(
    root: Browser, accounts: Accounts, asking: leaseq.Queue, team: list[str]
) -> None:
    take(asking, team[0])
    root.post("/people/many", {"name": team[:2], "disable": "yes", "act": "add-skills", "value": ""})
    assert [accounts.get(name).disabled for name in team] == [True, True, False]
    assert asking.mine(team[0]) == []
    root.post("/people/many", {"name": team, "act": "enable"})
    assert not any(accounts.get(name).disabled for name in team)


def test_many_get_access_to_a_queue_and_lose_it(
    root: Browser, team: list[str], queue: leaseq.Queue, state: State
) -> None:
    queue.configure()
    many = {"name": team[:2], "value": queue.name}
    root.post("/people/many", {**many, "act": "let-work"})
    assert "everybody may work on" in root.get("/people").text
    state.access.set(queue.name, Access(Group(teams=("Refunds",))))
    root.post("/people/many", {**many, "act": "let-work"})
    assert state.access.of(queue.name) == Access(Group(people=tuple(team[:2]), teams=("Refunds",)))
    root.post("/people/many", {**many, "name": team[:1], "act": "let-not-work"})
    assert state.access.of(queue.name) == Access(Group(people=(team[1],), teams=("Refunds",)))
    state.access.set(queue.name, Access())


def test_a_step_keeps_the_access_that_another_process_gave_just_now(
    root: Browser, team: list[str], queue: leaseq.Queue, state: State, server: Any
) -> None:
    """The steps of one change go to any of the web processes, and each reads the access once a second."""
    queue.configure()
    state.access.set(queue.name, Access(Group(people=(team[0],))))
    assert state.access.of(queue.name).work == Group(people=(team[0],))
    QueueAccess(server.client).set(queue.name, Access(Group(people=tuple(team[:2]))))
    root.post("/people/many", {"name": team[2:], "act": "let-work", "value": queue.name})
    assert state.access.of(queue.name) == Access(Group(people=tuple(team)))
    state.access.set(queue.name, Access())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": [], "act": "team"}, "at least one person"),
        ({"act": "promote"}, "one of add-skills"),
        ({"act": "add-skills", "value": "  "}, "something in its box"),
        ({"act": "add-skills", "value": "Not Good"}, "each 1 to 64 characters of a-z"),
        ({"act": "team", "value": "x" * 65}, "a team of at most 64 printable characters"),
        ({"name": ["nobody at all"], "act": "team"}, "there is no person named"),
    ],
)
def test_what_can_t_be_changed_is_said(
    root: Browser, accounts: Accounts, team: list[str], fields: dict[str, Any], said: str
) -> None:
    before = accounts.get(team[0])
    assert root.post("/people/many", {"name": [team[0]], **fields}).status_code == 303
    assert said in html.unescape(root.get("/people").text)
    assert accounts.get(team[0]) == before


def test_all_who_match_are_changed_in_steps(
    root: Browser, accounts: Accounts, team: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "STEP", 2)
    monkeypatch.setattr(live, "PAGE", 2)
    path = f"/people?q={team[0][:-4]}"
    page = html.unescape(root.get(path).text)
    assert "Select all 3 people that match" in page
    sent = {"name": team[:1], "all": "yes", "act": "team", "value": "Refunds"}
    step = root.post(path.replace("?", "/many?"), sent)
    assert "2 people are changed." in step.text
    assert [accounts.get(name).team for name in team] == ["Refunds", "Refunds", team[0][:-4]]
    form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', step.text.split('id="go-on"')[1]))
    assert (form["after"], form["total"]) == (team[1], "3")
    last = root.post(path.replace("?", "/many?"), form)
    assert "3 people are changed." in last.text
    assert 'id="go-on"' not in last.text
    assert [accounts.get(name).team for name in team] == ["Refunds"] * 3
    assert root.post("/people/many?q=nobody+at+all", sent).status_code == 303
    assert "0 people are changed." in root.get("/people").text


def test_nobody_disables_themselves_among_many(root: Browser, accounts: Accounts) -> None:
    root.post("/people/many", {"name": [root.name], "disable": "yes"})
    assert "you would be signed out" in root.get("/people").text
    assert not accounts.get(root.name).disabled


def test_a_queue_that_is_not_there_gives_no_access(root: Browser, team: list[str]) -> None:
    answer = root.post("/people/many", {"name": team, "act": "let-work", "value": "no-such-queue"})
    assert answer.status_code == 404


def test_many_are_invited_by_pasting_their_names(
    app: Flask, root: Browser, accounts: Accounts, team: list[str], new_name: Callable[[str], str]
) -> None:
    new = [new_name("new") for _ in range(2)]
    names = f"{new[0]}\r\n\r\n  {new[1]} \r\n{team[0]}\r\n{new[0]}"
    answer = root.post("/people", {"name": names, "role": "worker", "skills": "fr", "team": "Refunds"})
    assert answer.status_code == 200
    page = html.unescape(answer.text)
    links = re.findall(r"<b>([^<]+)</b> <code[^>]*>[^<]*(/welcome\?token=[\w-]+)", page)
    assert [name for name, _link in links] == new
    assert f"there is already a person named {team[0]!r}" in page
    assert f">{team[0]}</textarea>" in page, "who was not invited stays in the box"
    token = links[0][1].partition("=")[2]
    person = accounts.accept(token, "", "correct horse battery")
    assert (person.name, person.team, person.skills) == (new[0], "Refunds", ("fr",))
    assert not_none(accounts.find(new[0])).team == "Refunds"


def test_more_names_than_are_taken_at_once_stay_in_the_box(root: Browser) -> None:
    answer = root.post("/people", {"name": "\n".join(f"name {n}" for n in range(501))})
    assert answer.status_code == 400
    assert "at most 500 names at once; these are 501" in answer.text
    assert "name 500</textarea>" in answer.text
