"""What mypy reports for programs that use leaseq: misspelt fields and missing leases are errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[2]
GOOD = """
import leaseq

with leaseq.connect() as client:
    queue = leaseq.Queue(client, "reviews")
    queue.configure(lease_seconds=3)
    if lease := queue.reserve("a"):
        queue.finish(lease, {})
"""
BAD = """
import leaseq

queue = leaseq.Queue(leaseq.connect(), "reviews")
queue.configure(lease_second=3)
queue.finish(queue.reserve("a"), {})
"""
GOOD_AIO = """
import leaseq

async def main() -> None:
    async with leaseq.aio.connect() as client:
        queue = leaseq.aio.Queue(client, "reviews")
        await queue.configure(lease_seconds=3)
        if lease := await queue.reserve("a", wait=20):
            await queue.finish(lease, {})
        print((await queue.policy).holds, [answer.id async for answer in queue.answers()])
"""
BAD_AIO = """
import leaseq

async def main(client: leaseq.aio.Client) -> None:
    queue = leaseq.aio.Queue(client, "reviews")
    await queue.configure(lease_second=3)
    await queue.finish(await queue.reserve("a"), {})
    queue.pause()
"""
PROGRAMS = {"good": GOOD, "bad": BAD, "good_aio": GOOD_AIO, "bad_aio": BAD_AIO}


@pytest.fixture(scope="module")
def mypy_lines() -> list[str]:
    """Return everything that one run of mypy reports. Its cache for leaseq is kept for the next run."""
    folder = ROOT / ".mypy_cache" / "of-programs"
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in PROGRAMS.items():
        (folder / f"{name}.py").write_text(program)
    options = ["--strict", "--config-file=", f"--cache-dir={folder}"]
    output, errors, _ = api.run([*options, "--enable-error-code=unused-awaitable", str(folder)])
    assert errors == ""
    return [line.rpartition(f"{folder.name}/")[2] for line in output.splitlines()]


def errors_of(mypy_lines: list[str], name: str) -> list[tuple[int, str]]:
    fields = (line.split(":", 2) for line in mypy_lines if line.startswith(f"{name}.py:"))
    return [(int(line), text.rpartition("[")[2][:-1]) for _, line, text in fields if " error: " in text]


@pytest.mark.parametrize("name", ["good", "good_aio"])
def test_correct_program_has_no_type_errors(mypy_lines: list[str], name: str) -> None:
    assert errors_of(mypy_lines, name) == []


def test_misspelt_field_and_missing_lease_are_type_errors(mypy_lines: list[str]) -> None:
    assert errors_of(mypy_lines, "bad") == [(5, "call-arg"), (6, "arg-type")]


def test_misspelt_field_missing_lease_and_await_are_type_errors_in_aio(mypy_lines: list[str]) -> None:
    assert errors_of(mypy_lines, "bad_aio") == [(6, "call-arg"), (7, "arg-type"), (8, "unused-coroutine")]
