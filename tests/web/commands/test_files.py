"""leaseq files."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import leaseq
from leaseq.cli import main
from leaseq.webapp.files.keys import FileKeys, Place, SentFile
from leaseq.webapp.files.storage import Folder
from tests.support.leases import take


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "files")


def store(folder: Folder, queue: str, id: str) -> SentFile:
    file = FileKeys("a secret").new_file(Place(queue, id, "photo", "ann"), "a.png", 5, "image/png")
    assert folder.put(file.key, io.BytesIO(b"bytes"), 5)
    return file


def test_files_are_listed_and_unused_ones_deleted(
    server: Any, queue: leaseq.Queue, folder: Folder, tmp_path: Path
) -> None:
    def run(*arguments: str) -> Result:
        place = str(tmp_path / "files")
        return CliRunner().invoke(main, ["files", *arguments, "--files", place, "--redis", server.url])

    def keys(*arguments: str) -> set[str]:
        listed = json.loads(run(*arguments, "--json").stdout)["files"]
        assert all(file["size"] == 5 for file in listed)
        return {file["key"] for file in listed}

    for id in ("done", "open"):
        queue.enqueue({}, id=id)
    answered = take(queue, "ann")
    named, replaced, of_open = (store(folder, queue.name, id) for id in ("done", "done", "open"))
    queue.finish(answered, {"photo": [named.to_json()]})
    of_item_gone, of_queue_gone = store(folder, queue.name, "gone"), store(folder, "no-such-queue", "done")
    unused = {replaced.key, of_item_gone.key, of_queue_gone.key}
    assert keys() == unused | {named.key, of_open.key}
    assert keys("--unused") == set()  # they arrived less than a week ago
    assert keys("--unused", "--days", "0") == unused
    assert run("--remove").exit_code == 1
    assert len(keys()) == 5
    removed = run("--unused", "--days", "0", "--remove")
    assert {line.partition("\t")[2] for line in removed.stdout.splitlines()} == unused
    assert keys() == {named.key, of_open.key}
