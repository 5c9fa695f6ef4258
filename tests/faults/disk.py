"""A disk that can lose power, and be full. It reads the record that ``shim/disk.c`` makes of a server's
writes."""

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

from tests.faults.shim import environment, preload

UNBOUNDED = -1


class Step(NamedTuple):
    """A change of the names in a folder: made, renamed or unlinked."""

    kind: str
    name: Path
    new_path: Path = Path()  # the new name, if it was renamed
    backup: str = "-"  # another name of the file whose name this step replaced or removed


class Disk:
    """A simulated disk; the folder ``data`` is on it."""

    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self._record, self._backups, self._room = root / "record", root / "kept", root / "room"
        self.data.mkdir(mode=0o700)
        self._backups.mkdir()
        self._record.touch()
        self._room.write_bytes(struct.pack("=q", UNBOUNDED))
        self.settings = {
            "SHIM_FOLDER": self.data,
            "SHIM_RECORD": self._record,
            "SHIM_KEPT": self._backups,
            "SHIM_ROOM": self._room,
        }

    def environment(self) -> dict[str, str]:
        """The environment for a process that uses this disk."""
        return environment("disk", self.settings)

    def attach(self) -> AbstractContextManager[None]:
        """Embedded servers that are started within use this disk."""
        return preload("disk", self.settings)

    def give_room(self, bytes: int = UNBOUNDED) -> None:
        with self._room.open("r+b") as file:  # in place: the servers have it mapped
            file.write(struct.pack("=q", bytes))

    def cut_power(self, dice: random.Random | None = None) -> int:
        """Remove what a power cut would lose, after every process that used the disk was killed; return the
        number of lost bytes. Changes of names since the folder's last fsync are undone from a random moment
        on, and bytes of a file after its last fsync are cut off at a random place. Without dice, all of them
        are lost.
        """
        lengths, steps = self._read()
        for folder_steps in steps.values():
            for step in reversed(folder_steps[dice.randint(0, len(folder_steps)) if dice else 0 :]):
                _undo(step)
        lost_bytes = 0
        for path in self._files():
            status = path.stat()
            if status.st_ino in lengths and status.st_size > lengths[status.st_ino]:
                length = lengths[status.st_ino]
                length = dice.randint(length, status.st_size) if dice and dice.random() < 0.5 else length
                lost_bytes += status.st_size - length
                os.truncate(path, length)
        self._begin_again()
        return lost_bytes

    def _read(self) -> tuple[dict[int, int], dict[Path, list[Step]]]:
        """Return how much of each file is on the disk, and for each folder the changes that may not be."""
        lengths: dict[int, int] = {}
        steps: dict[Path, list[Step]] = defaultdict(list)
        for line in self._record.read_text().splitlines():
            match line.split("\t"):
                case ["made", path, inode]:
                    lengths[int(inode)] = 0
                    steps[Path(path).parent].append(Step("made", Path(path)))
                case ["renamed", path, new_path, backup]:
                    steps[Path(new_path).parent].append(Step("renamed", Path(path), Path(new_path), backup))
                case ["unlinked", path, backup]:
                    steps[Path(path).parent].append(Step("unlinked", Path(path), backup=backup))
                case ["synced", inode, length]:
                    lengths[int(inode)] = int(length)
                case ["shortened", inode, length]:
                    lengths[int(inode)] = min(int(length), lengths.get(int(inode), 0))
                case ["synced-folder", path]:
                    steps.pop(Path(path), None)
        return lengths, steps

    def _begin_again(self) -> None:
        """Mark all that is there now as being on the disk."""
        shutil.rmtree(self._backups)
        self._backups.mkdir()
        statuses = (path.stat() for path in self._files())
        self._record.write_text(
            "".join(f"synced\t{status.st_ino}\t{status.st_size}\n" for status in statuses)
        )

    def _files(self) -> list[Path]:
        return [path for path in self.data.rglob("*") if path.is_file()]


def _undo(step: Step) -> None:
    if step.kind == "made" and step.name.is_dir():
        shutil.rmtree(step.name)
    elif step.kind == "made":
        step.name.unlink(missing_ok=True)
    elif step.kind == "renamed" and step.new_path.exists():
        step.new_path.rename(step.name)
        if step.backup != "-":
            os.link(step.backup, step.new_path)
    elif step.kind == "unlinked" and not step.name.exists():
        os.link(step.backup, step.name)


@contextmanager
def empty_disk() -> Iterator[Disk]:
    """An empty disk. Its path is short because the server's socket is in it."""
    with tempfile.TemporaryDirectory(prefix="leaseq-") as root:
        yield Disk(Path(root))
