"""The figures of people over a period: the table and the file against sums made one by one."""

from __future__ import annotations

import csv
import html
import io
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import product
from typing import Any, get_args
from urllib.parse import urlencode

import pytest
from flask import Flask

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.context import State
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity, How
from leaseq.webapp.store.queue_access import Access, Group
from tests.support.leases import take
from tests.web.conftest import CHEAP_PASSWORDS, SECRET, Browser, Caller
from tests.web.elements import attributes, elements, table_rows

MONDAY = date(2026, 3, 2)
DAYS = [MONDAY + timedelta(days=number) for number in (0, 3, 6, 7)]
NAMES = ("finished", "abandoned", "failed")
Sums = dict[tuple[str, ...], list[int]]


class Work:
    """What two teams did in two queues on four days, one entry for each item."""

    def __init__(self, server: Any, accounts: Accounts, queue: leaseq.Queue, prefix: str) -> None:
        self.teams = {
            accounts.add(f"{prefix} {name}", by="test", team=team).name: team
            for name, team in (("ann", f"{prefix} day"), ("bob", f"{prefix} day"), ("eva", f"{prefix} night"))
        }
        self.queues = [f"{queue.name}-a", f"{queue.name}-b"]
        for name in self.queues:
            leaseq.Queue(server.client, name).configure(title=f"Title of {name}")
        choose, self.entries = random.Random(prefix), list[tuple[date, str, str, How]]()
        for number, (day, name, in_queue) in enumerate(product(DAYS, self.teams, self.queues)):
            now = datetime(
                day.year, day.month, day.day, choose.choice((0, 12, 23)), 59, tzinfo=UTC
            ).timestamp()
            activity = Activity(server.client, clock=lambda now=now: now)  # type: ignore[misc]
            for count in range(choose.randrange(4)):
                how = choose.choice(get_args(How))
                activity.record(name, in_queue, how, id=f"{number}-{count}", token=count, held_ms=1_000)
                self.entries.append((day, name, in_queue, how))
            activity.flush()

    def sums(self, *kinds: str, keep: Callable[[str, str, str], bool] = lambda *_: True) -> Sums:
        sums: Sums = defaultdict(lambda: [0, 0, 0])
        for day, name, queue, how in self.entries:
            if keep(str(day), name, queue):
                known = {
                    "person": name,
                    "team": self.teams[name],
                    "queue": queue,
                    "day": str(day),
                    "week": str(day - timedelta(days=day.weekday())),
                }
                sums[tuple(known[kind] for kind in kinds)][NAMES.index(how)] += 1
        return dict(sums)


@pytest.fixture
def work(server: Any, accounts: Accounts, queue: leaseq.Queue, new_name: Callable[[str], str]) -> Work:
    return Work(server, accounts, queue, new_name("w"))


def address(suffix: str = "", **arguments: object) -> str:
    return f"/figures{suffix}?" + urlencode({"from": DAYS[0], "to": DAYS[-1], **arguments})


def in_file(browser: Browser, of: Work, **arguments: object) -> Sums:
    text = browser.get(address(".csv", **arguments)).text
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    key_count = head.index("finished")
    columns = [head.index(name) for name in ("finished", "given_back", "failed")]
    sums = {tuple(row[:key_count]): [int(row[column]) for column in columns] for row in rows}
    known = {*of.teams, *of.teams.values(), *of.queues}
    return {keys: counts for keys, counts in sums.items() if known & set(keys)}


def test_file_has_the_sums_for_each_kind_of_row(admin_browser: Browser, work: Work) -> None:
    first_team, queue = next(iter(work.teams.values())), work.queues[0]
    for kinds in (
        ("person",),
        ("team",),
        ("queue",),
        ("person", "day"),
        ("week", "team"),
        ("queue", "person"),
    ):
        by = dict(zip(("by", "and"), kinds, strict=False))
        assert in_file(admin_browser, work, **by) == work.sums(*kinds), kinds
    assert in_file(admin_browser, work, by="person", team=first_team) == work.sums(
        "person", keep=lambda _day, name, _queue: work.teams[name] == first_team
    )
    of_team = admin_browser.get(address(".csv", by="day", team=first_team, queue=queue)).text
    assert {
        (row[0],): list(map(int, (row[1], row[3], row[4]))) for row in list(csv.reader(of_team.split()))[1:]
    } == (
        work.sums(
            "day", keep=lambda _day, name, in_queue: (work.teams[name], in_queue) == (first_team, queue)
        )
    )
    one_day = {"from": DAYS[1], "to": DAYS[1], "by": "person"}
    assert in_file(admin_browser, work, **one_day) == work.sums(
        "person", keep=lambda day, *_: day == str(DAYS[1])
    )


def test_names_that_a_spreadsheet_would_run_are_guarded(
    admin_browser: Browser, accounts: Accounts, server: Any, work: Work, new_name: Callable[[str], str]
) -> None:
    name = accounts.add(f"=1+{new_name('x')}", by="test").name
    activity = Activity(server.client, clock=lambda: datetime(2026, 3, 2, tzinfo=UTC).timestamp())
    activity.record(name, work.queues[0], "finished", id="x", token=1)
    activity.flush()
    rows = list(csv.reader(admin_browser.get(address(".csv")).text.splitlines()))
    assert f"'{name}" in [row[0] for row in rows]


def test_table_has_the_rows_of_the_file_in_the_chosen_order(admin_browser: Browser, work: Work) -> None:
    team = next(iter(work.teams.values()))
    for sort, column in (("done", 1), ("back", 3), ("failed", 4)):
        page = admin_browser.get(address(team=team, sort=sort)).text
        rows = [row for row in table_rows(page) if row[0] in work.teams]
        expected = work.sums("person", keep=lambda _day, name, _queue: work.teams[name] == team)
        assert {(row[0],): [int(row[1]), int(row[3]), int(row[4])] for row in rows} == expected
        counts = [int(row[column]) for row in rows]
        assert counts == sorted(counts, reverse=True), sort
        upward = admin_browser.get(address(team=team, sort=sort, order="up")).text
        assert [int(row[column]) for row in table_rows(upward) if row[0] in work.teams] == sorted(counts)
    page = admin_browser.get(address(by="queue", queue=work.queues[0])).text
    assert [row[0] for row in table_rows(page)[1:]] == [f"Title of {work.queues[0]}"]
    (link,) = attributes(page, "a[download]", "href")
    assert "text/csv" in admin_browser.get(link).headers["Content-Type"]


@pytest.fixture
def hidden_queue(work: Work, state: State) -> Iterator[str]:
    """The second queue, which only eva may work on, and which nobody manages."""
    eva = list(work.teams)[2]
    state.access.set(work.queues[1], Access(Group(people=(eva,)), Group(people=("nobody",))))
    yield work.queues[1]
    state.access.set(work.queues[1], Access())


@pytest.mark.guard("figures-of-the-queues", "people-of-the-queues")
def test_manager_sees_only_people_and_work_of_managed_queues(
    manager_browser: Browser, worker_browser: Browser, accounts: Accounts, work: Work, hidden_queue: str
) -> None:
    bob = list(work.teams)[1]
    accounts.change(bob, by="test", disabled=True)
    seen = work.sums("person", "queue", keep=lambda _day, name, queue: name != bob and queue != hidden_queue)
    assert in_file(manager_browser, work, by="person", **{"and": "queue"}) == seen
    page = html.unescape(manager_browser.get(address(by="person")).text)
    assert bob not in page
    assert hidden_queue not in page
    assert in_file(manager_browser, work, by="person", queue=hidden_queue) == {}
    for path in (address(), address(".csv")):
        assert worker_browser.get(path).status_code == 403, path


def test_reopened_and_corrected_answers_count_for_their_author(
    manager: Caller,
    admin_browser: Browser,
    accounts: Accounts,
    form_queue: leaseq.Queue,
    new_name: Callable[[str], str],
) -> None:
    ann = accounts.add(new_name("ann"), by="test").name
    answer = {"about": "refund", "urgent": True}
    for act in ("reopen", "correct"):
        lease = take(form_queue, ann)
        form_queue.finish(lease, answer)
        body = {"token": lease.token} | ({"result": {**answer, "urgent": False}} if act == "correct" else {})
        path = f"/queues/{form_queue.name}/items/{lease.id}/{act}"
        for status in (200, None):  # it is done already when it is sent again
            response = manager("POST", path, json=body)
            assert status in (None, response.status_code)
    lease = take(form_queue, ann)
    form_queue.finish(lease, answer)
    bulk = {"action": "reopen", "ids": [lease.id]}
    assert manager("POST", f"/queues/{form_queue.name}/bulk", json=bulk).json["done"] == 1
    text = admin_browser.get(f"/figures.csv?queue={form_queue.name}").text
    head, *rows = csv.reader(text.splitlines())
    (row,) = (dict(zip(head, row, strict=True)) for row in rows if row[0] == ann)
    assert (row["reopened"], row["corrected"]) == ("2", "1")


def test_days_are_those_of_the_site(server: Any, sign_in_as: Any, accounts: Accounts, new_name: Any) -> None:
    app: Flask = create_app(
        Settings(redis_url=server.url, secret_key=SECRET, time_zone="Pacific/Kiritimati"),
        passwords=CHEAP_PASSWORDS,
    )
    browser = Browser(app, new_name("boss"))
    browser.start_session(accounts.add(browser.name, by="test", role="admin"))
    before = datetime.now(UTC) + timedelta(hours=14)
    shown = attributes(browser.get("/figures").text, "#to", "value")
    assert shown in ([str(before.date())], [str((before + timedelta(hours=1)).date())])


def test_other_arguments_are_refused_or_left_out(admin_browser: Browser) -> None:
    for arguments in (
        {"from": "2026-02-30"},
        {"from": "2026-03-03", "to": "2026-03-02"},
        {"from": "2024-01-01", "to": "2026-03-02"},
        {"by": "role"},
        {"to": "9999-12-31"},
        {"from": "\x00<script>"},
    ):
        for suffix in ("", ".csv"):
            response = admin_browser.get(address(suffix, **arguments))
            assert response.status_code == 400, (suffix, arguments)
        assert not elements(admin_browser.get(address(**arguments)).text, "main script")
    for arguments in (
        {"from": "", "to": "0001-01-02"},
        {"sort": "password"},
        {"order": "sideways"},
        {"team": "nobody's"},
        {"queue": "../x"},
        {"start": "-3"},
    ):
        assert admin_browser.get(address(**arguments)).status_code == 200, arguments
