"""Each stored string has one codec in ``lua/lib``, and a counterpart in Python if Python reads or writes it:
each reads what the other writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leaseq
from leaseq import Policy
from leaseq.engine import arguments, codec
from leaseq.engine.scripts import read
from leaseq.policy import RULES, parse_rules, rule_defaults, to_server
from tests.conftest import Server

LUA = Path(leaseq.__file__).parents[1] / "lua"
CODECS = ["status", "rules", "items", "grants", "holdings", "cursors", "alerts", "late_answers", "retention"]
CODECS += ["tidy", "waiters"]
Lua = Callable[..., Any]

words = st.text("abcxyzäö9-_=.:", min_size=1, max_size=8)
names = st.text("ab cé'.-", min_size=1, max_size=8).map(str.strip).filter(bool)
times = st.integers(0, 2**53 - 1)
counts = st.integers(0, 10**9).map(str)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab \t\n\"'"), st.lists, max_leaves=4
)
texts = values.map(lambda value: json.dumps(value, ensure_ascii=False))


@pytest.fixture(scope="module")
def lua(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Lua:
    """Call ``parse`` and ``format`` of a codec with these words; a table is returned as JSON."""
    folder = tmp_path_factory.mktemp("lua")
    (folder / "lib").symlink_to(LUA / "lib")
    includes = "".join(f"--- @include {name}\n" for name in CODECS)
    table = ", ".join(f"{name} = {{ parse = {name}.parse, format = {name}.format }}" for name in CODECS)
    (folder / "codec.lua").write_text(
        "#!lua flags=no-writes\n" + includes + f"local codec = ({{ {table} }})[ARGV[1]]\n"
        "local words = {}\n"
        "for i = 3, #ARGV do words[i - 2] = ARGV[i] end\n"
        "if ARGV[2] == 'format' then return codec.format(cjson.decode(words[1])) end\n"
        "local state = {}\n"
        "if ARGV[2] == 'again' and ARGV[1] == 'status' then\n"
        "  codec.parse(words[1], state)\n"
        "  return codec.format(state)\n"
        "end\n"
        "if ARGV[2] == 'again' then return codec.format(codec.parse(unpack(words))) end\n"
        "return cjson.encode(codec.parse(unpack(words)))\n"
    )
    script = server.redis.register_script(read(folder, "codec").source)

    def call(name: str, action: str, *parts: Any) -> Any:
        codec_arguments = [one if isinstance(one, str) else json.dumps(one) for one in parts]
        reply = script(keys=["leaseq:{codec}:ledger"], args=[name, action, *codec_arguments]).decode()
        return json.loads(reply) if action == "parse" else reply

    return call


statuses = st.builds(
    lambda numbers, mode, lease, form, shelves: (
        f"v1 {' '.join(map(str, numbers))} {mode} {lease} {form} {' '.join(shelves)}"
    ),
    st.tuples(times, times, times, st.just(0) | times, times),
    st.sampled_from(["open", "mixed", "paused"]),
    st.floats(0.1, 604_800).map(lambda seconds: json.dumps(round(seconds, 6))),
    words,
    st.lists(st.sampled_from(["high", "normal:returned", "normal:2", "low"])),
)
holdings = st.builds(
    lambda request, idle, item_names: "\t".join([request + idle, *item_names, ""]),
    st.just("") | words,
    st.just("") | times.map(lambda time: f" idle={time}"),
    st.lists(names),
)
cursors = st.builds(
    lambda rows, idle: "".join(f"{row}:{shelf}\t{score}\n" for row, shelf, score in rows) + idle,
    st.lists(st.tuples(words, st.sampled_from(["normal", "high:2:returned"]), times)),
    st.just("") | times.map(lambda time: f"idle\t{time}\n"),
)


@given(text=statuses)
def test_status_is_unchanged_after_parse_and_format(lua: Lua, text: str) -> None:
    assert lua("status", "again", text) == text


@pytest.fixture(scope="module")
def ordinary(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str | None]]:
    """Evaluate an expression of the ordinary cases, with these words as `ARGV`."""
    folder = tmp_path_factory.mktemp("lua")
    (folder / "lib").symlink_to(LUA / "lib")

    def evaluate(expression: str, *words: str) -> list[str | None]:
        (folder / "x.lua").write_text(f"#!lua flags=no-writes\nreturn {{ {expression} }}\n")
        reply: Any = server.redis.eval(read(folder, "x").source, 0, *words)
        return [None if part is None else part.decode() for part in reply]

    return evaluate


@given(text=statuses)
def test_ordinary_cases_read_and_write_the_status_of_the_codec(
    ordinary: Callable[..., list[str | None]], text: str
) -> None:
    """They read a status without a skew; reserve only that of an open queue."""
    _, clock, token, finished, skew, next_sweep, mode, lease, form, *shelves = text.split(" ")
    first = shelves[0]
    unskewed = ordinary("string.match(ARGV[1], UNSKEWED_PATTERN)", text)
    opened = ordinary("string.match(ARGV[1], OPEN_PATTERN)", text)
    if skew != "0":
        assert unskewed == opened == []
        return
    rest = " ".join([mode, lease, form, *shelves])
    assert unskewed == [clock, token, finished, next_sweep, rest, mode, lease, form, first]
    band, colon, _ = first.partition(":")
    start = [clock, token, finished, next_sweep, rest, lease]
    assert opened == ([*start, band, colon] if mode == "open" else [])
    assert ordinary("string.match(ARGV[1], TIMES_PATTERN)", text) == [clock, finished, next_sweep]
    line = "UNSKEWED_STATUS(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5])"
    assert ordinary(line, clock, token, finished, next_sweep, rest) == [text]


@given(text=holdings)
def test_holdings_are_unchanged_after_parse_and_format(lua: Lua, text: str) -> None:
    assert lua("holdings", "again", text) == text


@given(text=cursors)
def test_cursors_are_unchanged_after_parse_and_format(lua: Lua, text: str) -> None:
    lines = dict(line.split("\t") for line in text.splitlines())
    assert dict(line.split("\t") for line in lua("cursors", "again", text).splitlines()) == lines


retentions = st.builds("{} {} {}".format, times, times, times)
tidy_states = st.builds(
    "{} {} {} {}".format, times, st.sampled_from(["people", "cursors"]), times, st.integers(0, 10)
)
waiter_times = st.builds("{} {}{}".format, times, times, st.sampled_from(["", " late"]))


@given(retention=retentions, tidy=tidy_states, waiter=waiter_times)
def test_states_of_clear_and_of_waiters_are_unchanged_after_parse_and_format(
    lua: Lua, retention: str, tidy: str, waiter: str
) -> None:
    assert lua("retention", "again", retention) == retention
    assert lua("tidy", "again", tidy) == tidy
    assert lua("waiters", "again", waiter) == waiter


late_lists = st.lists(
    st.fixed_dictionaries(
        {
            "token": st.integers(1, 2**53 - 1).map(str),
            "person": names,
            "arrived": st.integers(10**15, 2 * 10**15),
            "result": texts,
        }
    ),
    min_size=1,
)


@given(answers=late_lists)
def test_python_reads_the_late_answers_that_lua_writes(lua: Lua, answers: list[dict[str, Any]]) -> None:
    text = lua("late_answers", "format", answers)
    assert lua("late_answers", "again", text) == text
    record = "019ab000000\n{}"
    row = codec.outcome_row("one", [part.encode() for part in ("finished", record, text, "", "")])
    assert [
        {
            "token": str(answer.token),
            "person": answer.person,
            "arrived": codec.microseconds(answer.finished_at),
            "result": answer.result,
        }
        for answer in row.answers
    ] == answers


alerts = st.lists(
    st.builds(
        leaseq.Alert,
        st.sampled_from(get_args(leaseq.AlertName)),
        st.integers(1, 999_999_999),
        st.integers(0, 10**9),
        st.integers(10**15, 2 * 10**15).map(codec.to_datetime),
    )
)


@given(alerts=alerts)
def test_python_reads_the_alerts_that_lua_writes(lua: Lua, alerts: list[leaseq.Alert]) -> None:
    rows = [
        {"measure": one.name, "limit": one.limit, "since": codec.microseconds(one.since), "value": one.value}
        for one in alerts
    ]
    text = lua("alerts", "format", [{name: str(value) for name, value in one.items()} for one in rows])
    assert lua("alerts", "again", text) == text
    assert codec.alerts(text.encode()) == tuple(alerts)


MARKS = {"expires": "x", "renewals": "n", "undo": "u", "draft": "w", "due": "d"}
MARKS |= {"moved": "m", "adopted": "a", "request": "q"}
grants = st.fixed_dictionaries(
    {
        "token": st.integers(1, 2**53 - 1).map(str),
        "person": names,
        "granted": st.integers(10**15, 2 * 10**15),
        "seconds": st.floats(0.1, 604_800).map(lambda seconds: json.dumps(round(seconds, 6))),
        "attempt": st.integers(1, 10**6),
    },
    optional={
        "expires": st.integers(10**15, 2 * 10**15).map(str),
        "renewals": counts,
        "undo": words,
        "request": words,
        **dict.fromkeys(["draft", "due", "moved", "adopted"], st.just("")),
    },
)
times_of_now = st.integers(10**15, 2 * 10**15)
endings = st.one_of(
    st.just({}),
    st.builds(
        lambda ending, ended_at: {"ending": ending, "ended": ended_at, "detail": "", "answer": ""},
        st.sampled_from(["expired", "released", "undone", "corrected"]),
        times_of_now,
    ),
    st.builds(
        lambda ending, ended_at, reason: {
            "ending": ending,
            "ended": ended_at,
            "detail": reason,
            "answer": "",
        },
        st.sampled_from(["abandoned", "reopened"]),
        times_of_now,
        texts,
    ),
    st.builds(
        lambda ended_at, due, reason: {
            "ending": "failed",
            "ended": ended_at,
            "detail": f"{due} {reason}",
            "answer": "",
        },
        times_of_now,
        times,
        texts,
    ),
    st.builds(
        lambda ended_at, late, answer: {
            "ending": "finished",
            "ended": ended_at,
            "detail": late,
            "answer": answer,
        },
        times_of_now,
        st.sampled_from("01"),
        texts,
    ),
)


@given(line=grants, ending=endings)
def test_python_reads_the_grant_that_lua_writes(
    lua: Lua, line: dict[str, Any], ending: dict[str, Any]
) -> None:
    text = lua("grants", "format", line | ending)
    assert lua("grants", "again", text) == text
    parsed = codec.parse_grant(text)
    grant = parsed.grant
    assert (str(grant.token), grant.person, grant.attempt) == (line["token"], line["person"], line["attempt"])
    assert grant.reserved_at == codec.to_datetime(line["granted"])
    assert (grant.how, parsed.moved) == (ending.get("ending", "held"), "moved" in line)
    assert grant.renewals == int(line.get("renewals", 0))
    assert grant.ended_at == (codec.to_datetime(ending["ended"]) if ending else None)
    if grant.how == "finished":
        assert (parsed.late, parsed.result) == (ending["detail"] == "1", json.loads(ending["answer"]))
    elif grant.how in ("abandoned", "failed"):
        assert grant.reason == json.loads(ending["detail"].split(" ", grant.how == "failed")[-1])
    elif grant.how == "held":
        term_end = line["granted"] + round(float(line["seconds"]) * 1e6)
        expires = grant.expires_at
        assert expires is not None
        assert abs(codec.microseconds(expires) - int(line.get("expires", term_end))) <= 1


heads = st.fixed_dictionaries(
    {"enqueued": st.integers(16**10, 16**11 - 1).map(lambda time: f"{time:011x}"), "payload": texts},
    optional={
        **dict.fromkeys(["attempts", "failures", "answers", "max_attempts", "priority", "due"], counts),
        **dict.fromkeys(["dies", "has_draft"], st.just("")),
        "requires": st.lists(words.filter(lambda word: "," not in word), min_size=1).map(",".join),
        "assignee": names.map(lambda name: name.replace(" ", "\a")),
        "shelf": st.sampled_from(["high", "low:returned", "normal:2"]),
    },
)
LETTERS = {
    "attempts": "a",
    "failures": "f",
    "answers": "n",
    "dies": "x",
    "max_attempts": "m",
    "priority": "p",
    "due": "d",
}
LETTERS |= {"requires": "r", "assignee": "o", "shelf": "s", "has_draft": "w"}


@given(item=heads)
def test_python_reads_the_record_that_lua_writes(lua: Lua, item: dict[str, str]) -> None:
    text = lua("items", "format", item)
    assert lua("items", "parse", "one", text) == {**item, "member": "one", "record": text}
    letters = {LETTERS[name]: value for name, value in item.items() if name in LETTERS}
    assert codec.parse_record(text) == (item["enqueued"], letters, item["payload"])


@given(
    priority=st.integers(0, 1000),
    max_attempts=st.none() | st.integers(1, 1000),
    requires=st.lists(st.text("abcxyz", min_size=1, max_size=64), max_size=3),
)
def test_lua_reads_the_head_that_python_writes(
    lua: Lua, priority: int, max_attempts: int | None, requires: list[str]
) -> None:
    new = leaseq.NewItem({}, "one", priority=priority, max_attempts=max_attempts, requires=tuple(requires))
    _, head, payload = arguments.row(new, "one")
    parsed = lua("items", "parse", "one", f"019ab{'0' * 6}{head}\n{payload}")
    assert int(parsed.get("priority", 100)) == priority
    assert parsed.get("max_attempts") == (None if max_attempts is None else str(max_attempts))
    assert set(parsed.get("requires", "").split(",")) - {""} == set(requires)


policies = st.builds(
    Policy,
    holds=st.integers(1, 100),
    bands=st.tuples(st.integers(0, 100), st.integers(100, 1000)),
    renewals=st.none() | st.integers(0, 9),
    share_drafts=st.booleans(),
    retry_seconds=st.floats(0, 604_800),
    keep_finished_seconds=st.none() | st.integers(0, 10**6),
    keep_finished_count=st.none() | st.integers(0, 10**6),
    keep_dead_seconds=st.none() | st.floats(0, 10**6),
)


@given(policy=policies)
def test_lua_and_python_read_policy_rules_of_each_other(lua: Lua, policy: Policy) -> None:
    rule_words = to_server(policy, sorted(RULES), "-")
    line = " ".join("=".join(pair) for pair in zip(rule_words[::2], rule_words[1::2], strict=True))
    stored_line = lua("rules", "again", line)
    assert Policy(**parse_rules(stored_line.encode())) == Policy(
        **{name: getattr(policy, name) for name in RULES}
    )
    assert lua("rules", "again", stored_line) == stored_line


def test_policy_rule_with_default_value_is_not_stored(lua: Lua) -> None:
    """Older programs can then work with a queue that does not use a new field."""
    line = " ".join(f"{name}={value}" for name, value in sorted(rule_defaults().items()))
    assert lua("rules", "again", line) == ""
