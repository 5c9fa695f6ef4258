"""``./dev bench``: run the engine's benchmarks, and show each figure with its limit."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from leaseq.cli.common import CommandFailed, emit_json, emit_table, json_option

if TYPE_CHECKING:
    from benchmarks.engine import Figure


@click.command(epilog="Example: ./dev bench --quick")
@click.option(
    "--quick", is_flag=True, help="Use a tenth of the items, to check that it runs; the figures vary."
)
@click.option("--markdown", is_flag=True, help="Print the table for docs/benchmarks.md.")
@json_option
def bench(quick: bool, markdown: bool, as_json: bool) -> None:
    """Measure the engine on a server of its own, as ratios to a minimal script measured in the same run.

    Takes three to five minutes. Server and client share one core; the machine should be idle otherwise.
    Exits 1 if a figure misses its limit (not with --quick).
    """
    from benchmarks.engine import run

    figures = run(quick=quick, announce=lambda title: click.echo(f".. {title}", err=True))
    if as_json:
        emit_json([{**asdict(figure), "reached": figure.reached} for figure in figures])
    else:
        _print(figures, markdown)
    missed_names = [figure.name for figure in figures if not figure.reached]
    if missed_names and not quick:
        raise CommandFailed(f"missed its limit: {', '.join(missed_names)}")


def _print(figures: list[Figure], markdown: bool) -> None:
    headings = ("figure", "measured", "limit", "aim")
    rows = [(f.name, _value(f), _limit(f, f.least), _limit(f, f.aim)) for f in figures]
    if markdown:
        for row in (headings, ("---",) * 4, *rows):
            click.echo(f"| {' | '.join(row)} |")
    else:
        emit_table(headings, rows)


def _value(figure: Figure) -> str:
    return _number(figure.value, figure.unit) + (f" ({figure.detail})" if figure.detail else "")


def _limit(figure: Figure, value: float) -> str:
    return f"{'≥' if figure.more_is_better else '≤'} {_number(value, figure.unit)}"


def _number(value: float, unit: str) -> str:
    digits = (
        0 if value >= 100 else 1 if unit == "µs" and value >= 10 else 2 if unit == "x" or value >= 1 else 3
    )
    return f"{value:,.{digits}f} {unit}"


if __name__ == "__main__":
    bench(prog_name="./dev bench")
