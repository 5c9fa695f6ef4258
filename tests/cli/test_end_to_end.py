"""3,376 airports are imported by the command line, worked by eight people at once, and exported."""

from __future__ import annotations

import csv
import json
import threading
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

import leaseq
from tests.cli.conftest import Call

PEOPLE = 8


@pytest.fixture(scope="session")
def airports() -> Path:
    # Importing the package would import pandas, which takes a second; only its data file is needed.
    spec = find_spec("vega_datasets")
    assert spec
    assert spec.origin
    return Path(spec.origin).parent / "_data" / "airports.csv"


class Worker(threading.Thread):
    """Reserve items until none is left; finish most, give some back, fail some at first."""

    def __init__(self, url: str, queue: str, number: int) -> None:
        super().__init__()
        self._client = leaseq.connect(url)
        self._queue = leaseq.Queue(self._client, queue)
        self._person = f"person-{number}"
        self._rng = Random(number)
        self.finished_ids: list[str] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while True:
                lease = self._queue.reserve(self._person)
                if lease is not None:
                    self._process_item(lease)
                    continue
                stats = self._queue.stats()
                if stats.inbound + stats.reserved + stats.scheduled == 0:
                    return
        except BaseException as error:
            self.error = error
            raise
        finally:
            self._client.close()

    def _process_item(self, lease: leaseq.Lease) -> None:
        choice = self._rng.random()
        if choice < 0.04:
            self._queue.abandon(lease, reason="later")
        elif choice < 0.07:
            self._queue.fail(lease, "unreadable")
        else:
            self._queue.finish(lease, {"seen": lease.payload["iata"], "by": self._person})
            self.finished_ids.append(lease.id)


def test_imported_items_are_finished_once_and_exported_unchanged(
    call: Call, server: Any, queue_name: str, airports: Path, tmp_path: Path
) -> None:
    with airports.open(newline="", encoding="utf-8") as stream:
        rows = {row["iata"]: row for row in csv.DictReader(stream)}
    assert len(rows) == 3_376
    call(
        "queue",
        "create",
        queue_name,
        "--max-attempts",
        "1000",
        "--retry-seconds",
        "0.01",
        "--retry-max-seconds",
        "0.1",
    )
    result = call("import", queue_name, str(airports), "--id-field", "iata", "--raw-cells")
    assert (result.exit_code, result.stdout) == (0, "3,376 added, 0 duplicates, 0 rejected\n")

    workers = [Worker(server.url, queue_name, number) for number in range(PEOPLE)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.error for worker in workers] == [None] * PEOPLE
    assert sorted(id for worker in workers for id in worker.finished_ids) == sorted(rows)
    assert all(worker.finished_ids for worker in workers)

    _check_jsonl(call("export", queue_name).stdout, rows)
    assert call("export", queue_name, str(tmp_path / "out.csv")).exit_code == 0
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as stream:
        _check_csv(list(csv.DictReader(stream)), rows)
    stats = leaseq.Queue(server.client, queue_name).stats()
    assert (stats.inbound, stats.reserved, stats.scheduled, stats.dead) == (0, 0, 0, 0)
    assert stats.finished == 3_376
    assert stats.counters["abandoned"] > 0
    assert stats.counters["failed"] > 0


def _check_jsonl(text: str, rows: dict[str, dict[str, str]]) -> None:
    lines = [json.loads(line) for line in text.splitlines()]
    assert Counter(line["id"] for line in lines) == dict.fromkeys(rows, 1)
    for line in lines:
        assert line["payload"] == rows[line["id"]]
        assert line["result"] == {"seen": line["id"], "by": line["person"]}


def _check_csv(lines: list[dict[str, str]], rows: dict[str, dict[str, str]]) -> None:
    assert Counter(line["id"] for line in lines) == dict.fromkeys(rows, 1)
    for line in lines:
        row = rows[line["id"]]
        assert {name: line[f"payload.{name}"] for name in row} == row
