"""``leaseq doctor``: find server settings that lose data or let strangers in."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from leaseq.cli.common import connected, emit_json, json_option

if TYPE_CHECKING:
    from leaseq import Client
    from leaseq.doctor import Finding, Report

_COLORS = {"error": "red", "warning": "yellow", "unchecked": "cyan"}
_LEVEL_WORDS = {"error": "errors", "warning": "warnings", "unchecked": "not checked"}


@click.command(epilog="Example: leaseq doctor --redis rediss://leaseq:password@redis.example.org:6379/0")
@json_option
@connected
def doctor(client: Client, as_json: bool) -> None:
    """Check the server for anything that could lose data or let someone in.

    Prints one line for each problem, with its fix. Checks every node of a
    cluster, and every node that sentinels watch. Exits 1 if there is an error
    (a warning is not one). It changes nothing, but on a server without ACL
    DRYRUN it writes a key of its own and deletes it.
    """
    from leaseq.doctor import examine

    report = examine(client)
    if as_json:
        emit_json(_report_as_dict(report))
    else:
        _print(report)
    if not report.ok:
        click.get_current_context().exit(1)


def _report_as_dict(report: Report) -> dict[str, object]:
    return {
        "server": report.server,
        "ok": report.ok,
        "findings": [asdict(finding) for finding in report.findings],
        "passed": dict(report.passed),
        "schema": {"known": report.known_schema, "queues": report.schemas},
    }


def _print(report: Report) -> None:
    for finding in report.findings:
        click.echo(f"{click.style(finding.level, fg=_COLORS[finding.level])}: {_line(finding)}")
    levels: list[str] = [finding.level for finding in report.findings]
    if levels:
        counts = (f"{word} {levels.count(level)}" for level, word in _LEVEL_WORDS.items())
        click.echo(f"{report.server}: {', '.join(counts)}")
    else:
        click.echo(f"no problems found: {report.server}")
    if report.ok:
        for group, text in report.passed.items():
            click.echo(f"  {group}: {text}")


def _line(finding: Finding) -> str:
    if finding.level == "unchecked":
        return f"{finding.where}: {finding.problem}: {finding.fix}"
    return f"{finding.where} {finding.problem}. Fix: {finding.fix} [{finding.check}]"
