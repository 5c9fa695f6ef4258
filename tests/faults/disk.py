"""A disk that can lose its power, and be full. It watches a server by what ``shim/disk.c`` records."""

from __future__ import annotations

import os
import random
import shutil
import struct
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.faults.shim import environment, preloaded

UNBOUNDED = -1


class Step(NamedTuple):
    """A change of the names in a folder: made, renamed, unlinked."""

    what: str
    name: Path
    other: Path = Path()  # renamed: what it is named now
    kept: str = "-"  # another name of what was lost by it


class Disk:
    """What lies in ``data`` is on it."""

    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self._record, self._kept, self._room = root / "record", root / "kept", root / "room"
        self.data.mkdir(mode=0o700)
        self._kept.mkdir()
        self._record.touch()
        self._room.write_bytes(struct.pack("=q", UNBOUNDED))
        self.settings = {
            "SHIM_FOLDER": self.data,
            "SHIM_RECORD": self._record,
            "SHIM_KEPT": self._kept,
            "SHIM_ROOM": self._room,
        }

    def environment(self) -> dict[str, str]:
        """For a process that is to be on this disk."""
        return environment("disk", self.settings)

    def watching(self) -> AbstractContextManager[None]:
        """The embedded servers that are started within are on this disk."""
        return preloaded("disk", self.settings)

    def give_room(self, bytes: int = UNBOUNDED) -> None:
        with self._room.open("r+b") as file:  # in place: the servers have it mapped
            file.write(struct.pack("=q", bytes))

    def cut_power(self, dice: random.Random | None = None) -> int:
        """Take away what a power cut would take, once all that used the disk is killed; the bytes that went.

        Of the names in a folder, those changes since its last fsync go that came after a moment that the dice
        choose, and of a file's bytes past its last fsync those behind a place that they choose. Without dice,
        all of them go.
        """
        lengths, steps = self._read()
        for folder in steps.values():
            for step in reversed(folder[dice.randint(0, len(folder)) if dice else 0 :]):
                _undo(step)
        lost = 0
        for path in self._files():
            status = path.stat()
            if status.st_ino in lengths and status.st_size > lengths[status.st_ino]:
                length = lengths[status.st_ino]
                length = dice.randint(length, status.st_size) if dice and dice.random() < 0.5 else length
                lost += status.st_size - length
                os.truncate(path, length)
        self._begin_again()
        return lost

    def _read(self) -> tuple[dict[int, int], dict[Path, list[Step]]]:
        """Of each file how much is on the disk, and of each folder the changes that may not be."""
        lengths: dict[int, int] = {}
        steps: dict[Path, list[Step]] = defaultdict(list)
        for line in self._record.read_text().splitlines():
            match line.split("\t"):
                case ["made", path, inode]:
                    lengths[int(inode)] = 0
                    steps[Path(path).parent].append(Step("made", Path(path)))
                case ["renamed", path, other, kept]:
                    steps[Path(other).parent].append(Step("renamed", Path(path), Path(other), kept))
                case ["unlinked", path, kept]:
                    steps[Path(path).parent].append(Step("unlinked", Path(path), kept=kept))
                case ["synced", inode, length]:
                    lengths[int(inode)] = int(length)
                case ["shortened", inode, length]:
                    lengths[int(inode)] = min(int(length), lengths.get(int(inode), 0))
                case ["synced-folder", path]:
                    steps.pop(Path(path), None)
        return lengths, steps

    def _begin_again(self) -> None:
        """What is there now is on the disk: it was read from it."""
        shutil.rmtree(self._kept)
        self._kept.mkdir()
        statuses = (path.stat() for path in self._files())
        self._record.write_text("".join(f"synced\t{one.st_ino}\t{one.st_size}\n" for one in statuses))

    def _files(self) -> list[Path]:
        return [path for path in self.data.rglob("*") if path.is_file()]


def _undo(step: Step) -> None:
    if step.what == "made" and step.name.is_dir():
        shutil.rmtree(step.name)
    elif step.what == "made":
        step.name.unlink(missing_ok=True)
    elif step.what == "renamed" and step.other.exists():
        step.other.rename(step.name)
        if step.kept != "-":
            os.link(step.kept, step.other)
    elif step.what == "unlinked" and not step.name.exists():
        os.link(step.kept, step.name)


@contextmanager
def disk() -> Iterator[Disk]:
    """A disk with nothing on it. Its path is short, for the sake of the server's socket."""
    with tempfile.TemporaryDirectory(prefix="leaseq-") as root:
        yield Disk(Path(root))
