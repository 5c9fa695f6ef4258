"""Importing rows into a queue; files are written completely or not at all."""

from __future__ import annotations

import io
import stat
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from leaseq import Invalid, transfer
from leaseq.errors import ServerUnavailable
from leaseq.models import Answer, EnqueuedMany
from leaseq.transfer import BadRow, ImportResult, NewItem
from tests.support.refused import unavailable
from tests.transfer.test_writing import answer

BAD = Invalid("row", "row", what="nul")


class CollectingTarget:
    """The target of an import: keeps the items as a queue would, or only counts them."""

    def __init__(self, *, keep: bool = True, breaks_after: int | None = None) -> None:
        self.items: list[NewItem] = []
        self.count = 0
        self._keep = keep
        self._breaks_after = breaks_after

    def enqueue_many(self, items: Iterable[NewItem], *, on_conflict: object = None) -> EnqueuedMany:
        batch = list(items)
        if self._breaks_after is not None and self.count + len(batch) > self._breaks_after:
            raise unavailable()
        self.count += len(batch)
        if self._keep:
            self.items += batch
        return EnqueuedMany(len(batch), 0)


def rows(count: int, *, bad_every: int = 0) -> Iterator[NewItem | BadRow]:
    for n in range(count):
        yield BadRow(n, BAD) if bad_every and n % bad_every == 0 else NewItem(n)


def test_good_rows_are_imported_in_order_and_bad_rows_reported() -> None:
    target, bad_rows = CollectingTarget(), list[BadRow]()
    result = transfer.import_items(target, rows(2_500, bad_every=100), on_bad=bad_rows.append)
    assert result == ImportResult(added=2_475, duplicates=0, rejected=25)
    assert [item.payload for item in target.items] == [n for n in range(2_500) if n % 100]
    assert [row.line for row in bad_rows] == list(range(0, 2_500, 100))


def test_each_left_out_line_counts_as_rejected() -> None:
    rows: list[BadRow | NewItem] = [BadRow(2, BAD), BadRow(3, BAD, left_out=(3, 7)), NewItem(1)]
    assert transfer.import_items(CollectingTarget(), rows) == ImportResult(added=1, rejected=6)


def test_import_of_only_bad_rows_adds_nothing() -> None:
    target = CollectingTarget()
    assert transfer.import_items(target, rows(5, bad_every=1)) == ImportResult(0, 0, 5)
    assert target.items == []


def test_progress_counts_rows_imported_before_a_server_failure() -> None:
    progress: list[ImportResult] = []
    with pytest.raises(ServerUnavailable):
        transfer.import_items(CollectingTarget(breaks_after=2_500), rows(10_000), progress=progress.append)
    assert progress[-1] == ImportResult(added=2_000)


def test_import_counts_duplicates(queue) -> None:  # type: ignore[no-untyped-def]
    data = b"id,x\na,1\nb,2\na,3\n"
    first = transfer.import_items(queue, transfer.read(io.BytesIO(data), "csv", id_field="id"))
    second = transfer.import_items(queue, transfer.read(io.BytesIO(data), "csv", id_field="id"))
    assert (first, second) == (ImportResult(2, 0, 0, 1), ImportResult(0, 2, 0, 1))
    assert queue.get("a").payload == {"id": "a", "x": 1}


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "jsonl"])
def test_a_large_import_takes_no_more_memory_than_a_small_one(format: str) -> None:
    small, large = (_import_peak(format, count) for count in (2_000, 6_000))
    assert large < small * 1.5 + 200_000


@pytest.mark.parametrize("format", ["csv", "json", "jsonl"])
def test_a_large_export_takes_no_more_memory_than_a_small_one(format: str) -> None:
    small, large = (_export_peak(format, count) for count in (500, 3_000))
    assert large < small * 1.5 + 200_000


class GeneratedFile(io.RawIOBase):
    """A file of any length, generated while it is read."""

    def __init__(self, format: str, count: int) -> None:
        self._lines = _lines(format, count)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        while len(self._rest) < len(buffer):
            line = next(self._lines, b"")
            if not line:
                break
            self._rest += line
        chunk = self._rest[: len(buffer)]
        self._rest = self._rest[len(buffer) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _lines(format: str, count: int) -> Iterator[bytes]:
    if format == "csv":
        yield b"id,name\n"
        yield from (b'%d,"airport, %d"\n' % (n, n) for n in range(count))
    elif format == "tsv":
        yield b"id\tname\n"
        yield from (b'%d\t"airport, %d"\n' % (n, n) for n in range(count))  # read ahead to the end
    else:
        begin, between, end = (b"[", b",\n", b"]") if format == "json" else (b"", b"\n", b"\n")
        for n in range(count):
            yield (between if n else begin) + b'{"id":%d,"name":"airport, %d"}' % (n, n)
        yield end


def _import_peak(format: str, count: int) -> int:
    target = CollectingTarget(keep=False)
    stream = io.BufferedReader(GeneratedFile(format, count))
    tracemalloc.start()
    transfer.import_items(target, transfer.read(stream, format))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert target.count == count
    return peak


def _export_peak(format: str, count: int) -> int:
    def answers() -> Iterator[Answer]:
        return (answer(id=str(n), payload={"n": n}) for n in range(count))

    tracemalloc.start()
    pieces = sum(1 for _ in transfer.encode(answers(), format))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pieces == count + {"csv": 1, "json": 1, "jsonl": 0}[format]
    return peak


def test_file_appears_only_when_completely_written(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with transfer.whole_file(path) as stream:
        stream.write(b"half")
        assert not path.exists()
        stream.write(b" and half")
    assert path.read_bytes() == b"half and half"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]


def test_interrupted_export_keeps_the_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"before")
    path.chmod(0o640)
    with pytest.raises(ServerUnavailable):
        _break_off(path)
    assert path.read_bytes() == b"before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]
    with transfer.whole_file(path) as stream:
        stream.write(b"after")
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def _break_off(path: Path) -> None:
    with transfer.whole_file(path) as stream:
        stream.write(b"half")
        raise unavailable()


def test_check_counts_readable_rows_and_returns_the_first_bad_rows() -> None:
    bad_rows, steps = list[BadRow](), list[tuple[int, int]]()
    result = transfer.check(
        rows(2_500, bad_every=10),
        on_bad=bad_rows.append,
        progress=lambda result_so_far: steps.append((result_so_far.readable, result_so_far.bad)),
    )
    assert (result.readable, result.bad, result.rejected) == (2_250, 250, 250)
    assert [row.line for row in result.first] == list(range(0, 1_000, 10))
    assert len(bad_rows) == 250
    assert steps == [(900, 100), (1_800, 200)]


def test_check_keeps_no_rows_in_memory() -> None:
    def large() -> Iterator[NewItem | BadRow]:
        for n in range(300):
            yield BadRow(n, BAD, "x" * 100_000, left_out=(n, n + 1))
            yield NewItem("x" * 100_000)

    tracemalloc.start()
    result = transfer.check(large())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (result.readable, result.rejected, result.first[0]) == (
        300,
        600,
        BadRow(0, BAD, left_out=(0, 1)),
    )
    assert peak < 1_000_000
