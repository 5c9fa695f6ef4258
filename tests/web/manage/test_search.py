"""How a search for items is read from a URL."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Flask

from leaseq import Filter
from leaseq.webapp.search.criteria import Search, search_of


def test_overdue_search_ends_at_earlier_of_now_and_date(app: Flask) -> None:
    with app.test_request_context():
        check_overdue_search()


def test_search_up_to_time_keeps_earlier_end() -> None:
    now, earlier = datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 20, tzinfo=UTC)
    assert Search("finished").up_to(now).where.until == now
    assert Search("finished", where=Filter(until=earlier)).up_to(now).where.until == earlier


def check_overdue_search() -> None:
    early, late = "2020-01-31", "2999-01-31"
    assert search_of({"state": "due", "overdue": "1", "to": early}).where.until == (
        search_of({"state": "due", "to": early}).where.until
    )
    for fields in ({"to": late}, {}):
        until = search_of({"state": "due", "overdue": "1", **fields}).where.until
        assert until is not None
        assert until <= datetime.now(UTC)
