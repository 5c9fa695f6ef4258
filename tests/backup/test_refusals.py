"""Backups that can't be restored are refused before anything is written; the error names the reason and the
line."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from hashlib import sha256
from zlib import crc32

import pytest

import leaseq
from leaseq import backup
from tests.backup.conftest import MakeBackup

Change = Callable[[list[bytes]], list[bytes]]


def backup_line(content: dict[str, object]) -> bytes:
    """Format a line as a backup does."""
    text = json.dumps(content, ensure_ascii=False).encode()[:-1]
    return text + b', "crc32": %d}\n' % crc32(text)


def rewrite_line(lines: list[bytes], number: int, **changes: object) -> list[bytes]:
    """Change the content of a line, and update the checksums."""
    content = json.loads(lines[number])
    del content["crc32"]
    lines[number] = backup_line({**content, **changes})
    last_line = {"lines": len(lines) - 1, "sha256": sha256(b"".join(lines[:-1])).hexdigest()}
    return [*lines[:-1], backup_line(last_line)]


@pytest.fixture
def lines(timed_queue: leaseq.Queue, make_backup: MakeBackup) -> list[bytes]:
    """The lines of a backup: its head, the queue's line, three items, and the last line."""
    timed_queue.enqueue_many([{"n": 1}, {"n": 2}, {"n": 3}])
    backup_lines = make_backup().getvalue().splitlines(keepends=True)
    assert len(backup_lines) == 6
    return backup_lines


DAMAGED: dict[str, tuple[Change, str]] = {
    "a changed byte": (
        lambda lines: [
            line.replace(b'"n":2', b'"n":7').replace(b'\\"n\\":2', b'\\"n\\":7') for line in lines
        ],
        r"line \d: its checksum differs: the line is damaged",
    ),
    "a missing line": (lambda lines: lines[:3] + lines[4:], r"line 5: lines are missing"),
    "a repeated line": (lambda lines: lines[:3] + lines[2:], r"line 7: lines are missing"),
    "two swapped lines": (
        lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]],
        r"line 6: lines are missing, or not in their places",
    ),
    "truncated between lines": (lambda lines: lines[:4], r"line 4: the file ends without the last line"),
    "truncated within a line": (
        lambda lines: [*lines[:3], lines[3][:20]],
        r"line 4: it does not end as a line",
    ),
    "a missing last line break": (
        lambda lines: [*lines[:-1], lines[-1][:-1]],
        r"line 6: it does not end as a line",
    ),
    "data after the end": (lambda lines: [*lines, lines[3]], r"line 7: there is more after the end"),
    "not a backup": (lambda _: [b"id,text\n", b"1,hello\n"], r"line 1: this is not a backup of leaseq"),
    "an empty file": (lambda _: [], r"line 1: this is not a backup of leaseq"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_backup_is_refused(lines: list[bytes], other: leaseq.Client, case: str) -> None:
    damage, message = DAMAGED[case]
    damaged_lines = damage(lines)
    assert damaged_lines != lines or not damaged_lines
    with pytest.raises(backup.BackupDamaged, match=message):
        backup.restore(other, io.BytesIO(b"".join(damaged_lines)))
    assert other.redis.dbsize() == 0


NEWER: dict[str, Change] = {
    "reads leaseq-backup 1 and not 2": lambda lines: rewrite_line(lines, 0, **{"leaseq-backup": 2}),
    "reads schema 1 and not 2": lambda lines: rewrite_line(lines, 0, schema=2),
    "the policy field 'rule_of_tomorrow'": lambda lines: rewrite_line(
        lines, 1, policy={"rule_of_tomorrow": 5}
    ),
    "a value of the policy, holds: .*": lambda lines: rewrite_line(lines, 1, policy={"holds": 10**6}),
    "the key leaseq:{@tomorrow}:x": lambda lines: rewrite_line(
        lines, 1, key="leaseq:{@tomorrow}:x", type="hash"
    ),
    "the key leaseq:{@accounts}:people": lambda lines: rewrite_line(
        lines, 1, key="leaseq:{@accounts}:people", type="set"
    ),
    "the key leaseq:{@accounts}:session:": lambda lines: rewrite_line(
        lines, 1, key="leaseq:{@accounts}:session:1", type="string"
    ),
}


@pytest.mark.parametrize("case", NEWER)
def test_backup_of_newer_version_is_refused(lines: list[bytes], other: leaseq.Client, case: str) -> None:
    with pytest.raises(backup.RestoreRefused, match=rf"{case}.*use the (newer )?version"):
        backup.restore(other, io.BytesIO(b"".join(NEWER[case](lines))))
    assert other.redis.dbsize() == 0


def test_restore_over_existing_queue_is_refused(
    timed_queue: leaseq.Queue, lines: list[bytes], other: leaseq.Client
) -> None:
    leaseq.Queue(other, timed_queue.name).enqueue({"mine": 1}, id="mine")
    leaseq.Queue(other, "unrelated").enqueue({})
    with pytest.raises(
        backup.RestoreRefused, match=rf"the server already has the queue '{timed_queue.name}', and so"
    ):
        backup.restore(other, io.BytesIO(b"".join(lines)))
    assert leaseq.Queue(other, timed_queue.name).stats().inbound == 1
    leaseq.Queue(other, timed_queue.name).delete()
    assert backup.restore(other, io.BytesIO(b"".join(lines))).items == 3
    with pytest.raises(backup.RestoreRefused, match="the server already has"):
        backup.restore(other, io.BytesIO(b"".join(lines)))


def test_restore_over_interrupted_deletion_is_refused(
    timed_queue: leaseq.Queue, lines: list[bytes], other: leaseq.Client
) -> None:
    target_queue = leaseq.Queue(other, timed_queue.name)
    target_queue.enqueue({})
    target_queue._commands.run("delete", "")
    with pytest.raises(backup.RestoreRefused, match="did not end: run `leaseq queue delete`"):
        backup.restore(other, io.BytesIO(b"".join(lines)))
    target_queue.delete()
    assert backup.restore(other, io.BytesIO(b"".join(lines))).items == 3
