"""A test run with a skipped test is not a green one; and what all runs have: a seed, a limit for a test that
comes to no end, and a long form.

A skip counts as explained only where its reason starts with ``platform:`` and says what this machine
lacks that no install can give it. Any other skip or expected failure fails the run.
"""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# A machine that runs tests may be busy: how long an example takes says nothing.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

EXPLAINED = "platform:"
unexplained: list[str] = []
figures: list[str] = []


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
    whole = 600  # seconds: what all of ./dev test may take at rest is enough for one test on a busy machine
    parser.addoption("--limit", type=float, default=whole, help="after which a test fails that has no end")
    engines = ("valkey", "redis", "cluster", "sentinel")  # of tests/support/engines.py
    parser.addoption("--engine", default=engines[0], choices=engines, help="what the tests' shared server is")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """The long form has no limit. What a test leaves behind that does not end, either, is broken off, too."""
    limit = 0.0 if item.config.getoption("--soak") else item.config.getoption("--limit")
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"no end after {limit:g} s"))
    signal.setitimer(signal.ITIMER_REAL, limit, limit)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pytest_configure() -> None:
    """Before the workers of a run start, which take it over."""
    os.environ.setdefault("LEASEQ_SEED", str(secrets.randbelow(1_000_000)))


def pytest_report_header() -> str:
    return f"seed: {os.environ['LEASEQ_SEED']} (again with LEASEQ_SEED={os.environ['LEASEQ_SEED']})"
