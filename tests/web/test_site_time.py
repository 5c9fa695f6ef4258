"""Times that people type and read are in the site's time zone, even on days when its clocks change."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.forms.fields import fields_of
from leaseq.webapp.forms.parsing import draft_of, inputs_of, read_result
from leaseq.webapp.rendering.filters import clock
from leaseq.webapp.settings import Settings
from leaseq.webapp.site_time import clock_text, filter_period, filter_time, is_clock_time, read_moment
from tests.conftest import Clock
from tests.support.leases import not_none
from tests.support.refused import refused
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, SECRET, Browser

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"


@pytest.fixture(scope="module")
def site(server: Any) -> Callable[[str], Flask]:
    """The app of a site in a time zone."""
    apps = {
        zone: create_app(
            Settings(redis_url=server.url, secret_key=SECRET, time_zone=zone), passwords=CHEAP_PASSWORDS
        )
        for zone in (BERLIN, NEW_YORK)
    }
    return apps.__getitem__


@pytest.fixture
def berlin_browser(site: Callable[[str], Flask], new_name: Callable[[str], str]) -> Browser:
    """A manager in Berlin."""
    app, name = site(BERLIN), new_name("meg")
    app.extensions[EXTENSION].accounts.add(name, by="test", role="manager", password=PASSWORD)
    browser = Browser(app, name)
    assert browser.sign_in().status_code == 303
    return browser


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text + "+00:00")


@pytest.mark.parametrize(
    ("zone", "typed", "moment", "field_text"),
    [
        (BERLIN, "2026-07-01T12:00", "2026-07-01T10:00", "2026-07-01T12:00"),
        (BERLIN, "2026-12-01T12:00", "2026-12-01T11:00", "2026-12-01T12:00"),
        (BERLIN, "2026-12-01T12:00:00Z", "2026-12-01T12:00", "2026-12-01T13:00"),
        (BERLIN, "2026-10-25T02:30", "2026-10-25T00:30", "2026-10-25T02:30"),  # the first of the two times
        (BERLIN, "2026-10-25T02:30+01:00", "2026-10-25T01:30", "2026-10-25T02:30+01:00"),
        (NEW_YORK, "2026-11-01T01:30", "2026-11-01T05:30", "2026-11-01T01:30"),
        (NEW_YORK, "2026-11-01T01:30-05:00", "2026-11-01T06:30", "2026-11-01T01:30-05:00"),
        (NEW_YORK, "2026-03-08T03:00", "2026-03-08T07:00", "2026-03-08T03:00"),
    ],
)
def test_typed_time_is_parsed_in_site_zone_and_shown_in_field(
    site: Callable[[str], Flask], zone: str, typed: str, moment: str, field_text: str
) -> None:
    with site(zone).test_request_context():
        due = read_moment(typed, "due")
        assert (due, due.tzinfo) == (utc(moment), UTC)
        assert clock_text(due) == field_text
        assert is_clock_time(field_text) == (len(field_text) == len("2026-10-25T02:30"))


@pytest.mark.parametrize(("zone", "text"), [(BERLIN, "2026-03-29T02:30"), (NEW_YORK, "2026-03-08T02:00")])
def test_time_skipped_by_clock_change_is_refused(site: Callable[[str], Flask], zone: str, text: str) -> None:
    day, time = text.split("T")
    with site(zone).test_request_context():
        for parse in (read_moment, filter_time):
            with refused("skipped_time", "due", zone=zone, day=day, time=time):
                parse(text, "due")


@pytest.mark.parametrize(
    ("zone", "text", "since", "until"),
    [
        (BERLIN, "2026-11-21", "2026-11-20T23:00", "2026-11-21T23:00"),
        (BERLIN, "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"),  # a day of 23 hours
        (NEW_YORK, "2026-11-01", "2026-11-01T04:00", "2026-11-02T05:00"),  # a day of 25 hours
        (BERLIN, "2026-10-25T02:30", "2026-10-25T00:30", "2026-10-25T01:30"),  # both times
        (BERLIN, " 2026-11-21T10:05:00Z ", "2026-11-21T10:05", "2026-11-21T10:05"),
    ],
)
def test_filter_period_covers_day_in_site_zone(
    site: Callable[[str], Flask], zone: str, text: str, since: str, until: str
) -> None:
    with site(zone).test_request_context():
        assert filter_period({"from": text, "to": " "}) == (utc(since), None)
        assert filter_period({"to": text}) == (None, utc(until))
        assert filter_time(text, "since") == utc(since)
        assert filter_time(" ", "since") is None


def test_time_is_displayed_in_site_zone(site: Callable[[str], Flask]) -> None:
    with site(NEW_YORK).test_request_context(headers={"Accept-Language": "en"}):
        assert clock(utc("2026-11-22T02:30:05")) == "Nov 21, 2026, 21:30:05 EST"


ASK = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}


@pytest.mark.parametrize(
    ("typed", "value", "field_text"),
    [
        ("2026-07-01T12:00", "2026-07-01T10:00:00Z", "2026-07-01T12:00"),
        ("2026-07-01T12:00:30.25", "2026-07-01T10:00:30.25Z", "2026-07-01T12:00:30.25"),
        ("2026-10-25T02:30", "2026-10-25T00:30:00Z", "2026-10-25T02:30"),
        ("2026-10-25T02:30+01:00", "2026-10-25T01:30:00Z", "2026-10-25T02:30+01:00"),
    ],
)
def test_answer_time_is_stored_in_utc_and_shown_as_typed(
    site: Callable[[str], Flask], typed: str, value: str, field_text: str
) -> None:
    fields = fields_of({"ask": ASK})
    with site(BERLIN).test_request_context():
        result, errors = read_result(fields, {"at": [typed]})
        assert (result, errors) == ({"at": value}, {})
        assert draft_of(fields, {"at": [typed]}) == result
        assert inputs_of(fields, result) == {"at": [field_text]}


def test_answer_time_skipped_by_clock_change_is_refused_but_kept(site: Callable[[str], Flask]) -> None:
    fields, typed = fields_of({"ask": ASK}), {"at": ["2026-03-29T02:30"]}
    with site(BERLIN).test_request_context():
        result, errors = read_result(fields, typed)
        assert result == {}
        assert errors["at"].startswith("Europe/Berlin has no 02:30 on 2026-03-29")
        assert inputs_of(fields, draft_of(fields, typed)) == typed


def test_time_of_day_has_site_offset_in_summer_and_winter(
    site: Callable[[str], Flask],
) -> None:
    fields = fields_of({"ask": {**ASK, "properties": {"at": {"type": "string", "format": "time"}}}})
    with site(BERLIN).test_request_context():
        value = read_result(fields, {"at": ["17:00"]})[0]["at"]
        assert value in ("17:00:00+01:00", "17:00:00+02:00")
        for stored_time in ("17:00:00+01:00", "17:00:00+02:00"):
            assert inputs_of(fields, {"at": stored_time}) == {"at": ["17:00:00"]}
        assert inputs_of(fields, {"at": "17:00:00Z"}) == {"at": ["17:00:00Z"]}, "a time with another offset"
        assert read_result(fields, {"at": ["17:00:00Z"]})[0] == {"at": "17:00:00Z"}


def test_due_date_is_entered_and_shown_in_site_zone(berlin_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    queue.enqueue({"text": "a letter"}, id="l-1", due=utc("2026-10-25T01:30"))
    path = f"/manage/{queue.name}/items/l-1"
    page = html.unescape(berlin_browser.get(path).text)
    assert re.search(r'name="due" type="text" [^>]*value="2026-10-25T02:30\+01:00"', page)
    assert "Time zone: Europe/Berlin." in page
    seen_fields = dict(re.findall(r'name="(seen_\w+)" value="([^"]*)"', page))
    response = berlin_browser.post(f"{path}/change", {**seen_fields, "due": "2026-11-24T17:00"}, page=path)
    assert (response.status_code, queue.get("l-1").due) == (303, utc("2026-11-24T16:00"))
    assert 'value="2026-11-24T17:00"' in berlin_browser.get(path).text
    assert (
        berlin_browser.post(
            f"{path}/change", {**seen_fields, "due": "2026-03-29T02:30"}, page=path
        ).status_code
        == 400
    )


def test_answers_items_and_export_are_filtered_by_day_in_site_zone(
    berlin_browser: Browser, queue: leaseq.Queue, server: Any
) -> None:
    queue.configure(form={"ask": {"type": "object", "properties": {"note": {"type": "string"}}}})
    late_clock = Clock(round(utc("2030-01-14T23:30").timestamp() * 1e6))
    queue_ahead = leaseq.Queue(server.client, queue.name, clock=lambda: late_clock.now)
    queue_ahead.enqueue({"text": "after midnight in Berlin"}, id="l-1")
    queue_ahead.finish(not_none(queue_ahead.reserve("ann")), {"note": "x"})
    for day, has_answer in (("2030-01-14", False), ("2030-01-15", True)):
        period = {"from": day, "to": day}
        page = berlin_browser.get(f"/manage/{queue.name}/answers", query_string=period).text
        assert ("No answers." not in page) == has_answer, day
        items = berlin_browser.get(
            f"/manage/{queue.name}/items", query_string={**period, "state": "finished"}
        ).text
        assert ("after midnight" in items) == has_answer
        rows = berlin_browser.get(
            f"/manage/{queue.name}/export", query_string={**period, "format": "jsonl"}
        ).text
        assert len(rows.splitlines()) == has_answer


def test_imported_due_dates_are_in_site_zone(berlin_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    path = f"/manage/{queue.name}/import"
    form = {"csrf_token": berlin_browser.csrf(path), "name": "a.csv", "due": "by", "id": "nr"}
    plan = berlin_browser.client.post(f"{path}/jobs", data=form).json
    rows = b"nr,by\n1,2026-07-01\n2,2026-12-01T10:00\n3,2026-12-01T10:00Z\n4,2026-03-29T02:30\n"
    berlin_browser.client.post(not_none(plan)["to"], data=rows, headers={"X-CSRFToken": form["csrf_token"]})
    assert [(item.id, item.due) for item in queue.items("inbound")] == [
        ("1", utc("2026-06-30T22:00")),
        ("2", utc("2026-12-01T09:00")),
        ("3", utc("2026-12-01T10:00")),
    ], "the last row's time does not exist there"


@pytest.mark.parametrize("path", ["answers?", "items?state=finished&", "export?format=csv&"])
def test_period_that_ends_before_start_is_refused(
    manager_browser: Browser, queue: leaseq.Queue, path: str
) -> None:
    queue.configure()
    page = f"/manage/{queue.name}/{path}"
    response = manager_browser.get(f"{page}from=2026-11-22&to=2026-11-21T10:05")
    assert response.status_code == 400
    message = "From: expected a time before to, got 2026-11-22, and to is 2026-11-21T10:05"
    assert message in html.unescape(response.text)
    for text in ("2026-11-22", "2026-11-21T10:05"):
        assert f'value="{text}"' in response.text
    assert manager_browser.get(f"{page}from=2026-11-22&to=2026-11-22").status_code == 200, "a day is a period"
