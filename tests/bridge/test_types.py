"""Whatever a column can hold: the row is moved or refused with a reason, and no other row waits for it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

import leaseq
from leaseq.bridge.registry import Window
from leaseq.bridge.run import Bridge, Settings
from leaseq.bridge.verify import verify
from tests.bridge.conftest import Database, only_postgresql, only_sqlite, settle
from tests.conftest import Server

numbers = itertools.count()
EXAMPLES = 8  # of up to 16 rows each: one of them must not keep the others


REASONED = ("refused", "dead")  # dead: its deadline was over


class Raw(bytes):
    """Bytes that are stored as text, although they may be no UTF-8."""


plain_texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
jsons = st.sampled_from(
    [
        '{"ask": {"type": "object"}}',
        "1",
        "true",
        '{"a": 1, "a": 2}',
        '"\\ud800"',
        '"\\u0000"',
        "1e400",
        "[" * 500 + "]" * 500,
        "-0",
        '"x"',
    ]
)
skills = st.one_of(
    plain_texts, st.sampled_from(["", "fr", "[" * 3000, "[1]", '["fr"]', '[["fr"]]', "{}", "fr,,es", ", ,"])
)
long_texts = st.one_of(plain_texts, st.sampled_from(["", "x" * 300, "A", ".", "..", "a/b", "a\tb", "\u202e"]))
times = st.sampled_from(
    (
        "infinity",
        "-infinity",
        "20000-01-01",
        "294276-12-31",
        "4713-01-01 BC",
        "1969-12-31",
        "0001-01-01",
        "9999-12-31 23:59:59.999999+00",
        "9001-01-01",
        "2031-05-06 07:08:09",
    )
)
sqlite_values = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.binary(max_size=8),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.sampled_from(["0000-01-01", "0", "now", "9999-12-31", "[" * 3000, "A", "", "x" * 300, "1", "{"]),
    st.builds(Raw, st.binary(min_size=1, max_size=4)),
)
any_settings = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=EXAMPLES,
)


def check(
    server: Server, database: Database, rows: list[dict[str, Any]], changes: list[dict[str, Any]]
) -> None:
    good = f"types-good.{database.engine.dialect.name}.{next(numbers)}"
    database.run("DELETE FROM leaseq_item")
    database.run("DELETE FROM leaseq_bridge")
    for number, row in enumerate(rows):
        insert(database, {"queue": f"types.{next(numbers)}", "id": str(number), "payload": "1"} | row)
    database.add(good, "good")
    bridge = Bridge(server.client, database.engine, Settings(Window(100, 50)))
    settle(bridge)
    assert bridge._loop._failures == {}
    assert status_of(database, "good") == ["queued"]
    for status, error, is_later in statuses(database):
        assert status == "queued" or (status in REASONED and error) or (status == "waiting" and is_later)
    for values in changes:
        for name, value in values.items():
            database.run(
                f"UPDATE leaseq_item SET {name} = {expression(value)} WHERE status = 'queued'", v=value
            )
            settle(bridge)
    database.run("DELETE FROM leaseq_item WHERE status = 'queued'")
    settle(bridge)
    assert bridge._loop._failures == {}
    assert database.run("SELECT * FROM leaseq_change") == []
    assert verify(server.client, database.engine, good, lambda _: None) == []


def expression(value: object) -> str:
    return "CAST(:v AS text)" if isinstance(value, Raw) else ":v"


def insert(database: Database, row: dict[str, Any]) -> None:
    values = [f"CAST(:{n} AS text)" if isinstance(v, Raw) else f":{n}" for n, v in row.items()]
    statement = f"INSERT INTO leaseq_item ({', '.join(row)}) VALUES ({', '.join(values)})"
    with database.engine.begin() as connection:
        connection.execute(text(statement + " ON CONFLICT DO NOTHING"), row)


def status_of(database: Database, id: str) -> list[str]:
    return [row.status for row in database.run("SELECT status FROM leaseq_item WHERE id = :id", id=id)]


def statuses(database: Database) -> list[tuple[str, str | None, bool]]:
    later = "run_at > now()" if database.is_postgresql else "julianday(run_at) > julianday('now')"
    return [tuple(row) for row in database.run(f"SELECT status, error, {later} FROM leaseq_item")]


@only_sqlite
@any_settings
@given(
    rows=st.lists(
        st.dictionaries(
            st.sampled_from(
                [
                    *("queue", "id", "payload", "priority", "run_at", "requires", "due", "created_at"),
                    *("form", "expires_at", "assignee"),
                ]
            ),
            sqlite_values,
            min_size=1,
            max_size=3,
        ),
        min_size=4,
        max_size=16,
    ),
    changes=st.lists(
        st.dictionaries(
            st.sampled_from(["payload", "priority", "requires", "due", "form", "expires_at", "assignee"]),
            sqlite_values,
            min_size=1,
            max_size=1,
        ),
        max_size=2,
    ),
)
def test_any_value_of_sqlite(
    server: Server, database: Database, rows: list[dict[str, Any]], changes: list[dict[str, Any]]
) -> None:
    check(server, database, rows, changes)


@only_postgresql
@any_settings
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "queue": long_texts,
                "id": long_texts,
                "payload": jsons,
                "priority": st.integers(-(2**31), 2**31 - 1),
                "run_at": times,
                "requires": skills,
                "due": times,
                "created_at": times,
                "form": jsons,
                "expires_at": times,
                "assignee": long_texts,
            },
        ),
        min_size=4,
        max_size=16,
    ),
    changes=st.lists(
        st.one_of(
            st.fixed_dictionaries({"due": times}),
            st.fixed_dictionaries({"expires_at": times}),
            st.fixed_dictionaries({"form": jsons}),
            st.fixed_dictionaries({"requires": skills}),
            st.fixed_dictionaries({"payload": jsons}),
            st.fixed_dictionaries({"priority": st.integers(-(2**31), 2**31 - 1)}),
        ),
        max_size=2,
    ),
)
def test_any_value_of_postgresql(
    server: Server, database: Database, rows: list[dict[str, Any]], changes: list[dict[str, Any]]
) -> None:
    check(server, database, rows, changes)


@pytest.mark.parametrize("name", ["Reviews", "", "x" * 300])
def test_rows_of_a_queue_that_can_not_be_are_refused_with_the_reason(
    server: Server, database: Database, queue: leaseq.Queue, name: str
) -> None:
    database.add(name, "a")
    database.add(queue.name, "good")
    settle(Bridge(server.client, database.engine, Settings(Window(10, 5))))
    assert database.statuses() == {"a": "refused", "good": "queued"}
    assert "queue" in str(database.error("a"))


@pytest.mark.parametrize("value", [json.dumps([1]), "[" * 3000])
def test_skills_that_can_not_be_read_are_refused(
    database: Database, bridge: Bridge, queue: leaseq.Queue, value: str
) -> None:
    database.add(queue.name, "a", requires=value)
    database.add(queue.name, "good")
    settle(bridge)
    assert database.statuses() == {"a": "refused", "good": "queued"}
    assert "requires" in str(database.error("a"))


@pytest.mark.parametrize(
    ("column", "value", "word"),
    [
        ("form", '{"ask": {"type": 5}}', "form"),
        ("form", '{"ask": {"$ref": "https://example.org/x"}}', "form"),
        ("form", '{"show": [{"kind": "nothing"}]}', "form"),
        ("form", '"' + "x" * 66_000 + '"', "form"),
        ("form", "[" * 400 + "]" * 400, "form"),
        ("expires_at", "9999-12-31 00:00:00", "expires_at"),
        ("expires_at", "1969-12-31 00:00:00", "expires_at"),
        ("assignee", "", "to"),
        ("assignee", "a\tb", "to"),
        ("assignee", "x" * 300, "to"),
    ],
)
def test_bad_form_deadline_and_assignee_are_refused(
    database: Database, bridge: Bridge, queue: leaseq.Queue, column: str, value: str, word: str
) -> None:
    database.run(
        f"INSERT INTO leaseq_item (queue, id, payload, {column}) VALUES (:queue, 'a', '1', :value)"
        if column == "assignee" or not database.is_postgresql
        else f"INSERT INTO leaseq_item (queue, id, payload, {column}) VALUES (:queue, 'a', '1', "
        f"CAST(:value AS {'json' if column == 'form' else 'timestamptz'}))",
        queue=queue.name,
        value=value,
    )
    database.add(queue.name, "good")
    settle(bridge)
    assert database.statuses() == {"a": "refused", "good": "queued"}
    assert str(database.error("a")).startswith(f"{word}")


@only_sqlite
@pytest.mark.parametrize(
    ("column", "value"),
    [("form", "no JSON"), ("form", b"{}\xff"), ("expires_at", "soon"), ("assignee", b"\xff")],
)
def test_what_only_sqlite_can_hold_is_refused(
    database: Database, bridge: Bridge, queue: leaseq.Queue, column: str, value: object
) -> None:
    insert(database, {"queue": queue.name, "id": "a", "payload": "1", column: value})
    database.add(queue.name, "good")
    settle(bridge)
    assert database.statuses() == {"a": "refused", "good": "queued"}
