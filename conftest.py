"""Options of every test run: a seed, a time limit for each test, a long form (``--soak``), and the engine.

Skips and expected failures fail the run, except those whose reason starts with ``platform:`` and names what
this machine lacks and no installation can add.
"""

from __future__ import annotations

import gc
import os
import secrets
import signal
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

# No deadline for an example: its time is meaningless on a busy machine.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

EXPLAINED = "platform:"
unexplained: list[str] = []
figures: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude the collected tests from garbage collection, which would visit all of them again and again, and
    collect less often than by default, which takes a twentieth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        figures.extend(str(value) for name, value in report.user_properties if name == "figure")
    if report.skipped:
        _judge(report.nodeid, getattr(report, "wasxfail", None) or report.longrepr)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _judge(report.nodeid, report.longrepr)


def _judge(nodeid: str, reason: object) -> None:
    text = str(reason[2] if isinstance(reason, tuple) else reason).removeprefix("Skipped: ")
    if not text.startswith(EXPLAINED):
        unexplained.append(f"{nodeid}: {text}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if unexplained and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if figures:
        terminalreporter.section("figures")
        for line in figures:
            terminalreporter.line(line)
    if unexplained:
        terminalreporter.section(f"skipped without a reason that starts with {EXPLAINED!r}", red=True)
        for line in unexplained:
            terminalreporter.line(line)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="the long form of the tests that have one")
    whole = 600  # seconds: the limit for all of ./dev test on an idle machine
    parser.addoption("--limit", type=float, default=whole, help="after which a test fails that has no end")
    engines = ("valkey", "redis", "cluster", "sentinel")  # of tests/support/engines.py
    parser.addoption("--engine", default=engines[0], choices=engines, help="what the tests' shared server is")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Fail a test that exceeds the limit (none with --soak). The timer repeats, for stuck teardowns."""
    limit = 0.0 if item.config.getoption("--soak") else item.config.getoption("--limit")
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"no end after {limit:g} s"))
    signal.setitimer(signal.ITIMER_REAL, limit, limit)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pytest_configure() -> None:
    """Set the seed before the workers of the run start, so that they inherit it."""
    os.environ.setdefault("LEASEQ_SEED", str(secrets.randbelow(1_000_000)))


def pytest_report_header() -> str:
    return f"seed: {os.environ['LEASEQ_SEED']} (again with LEASEQ_SEED={os.environ['LEASEQ_SEED']})"
