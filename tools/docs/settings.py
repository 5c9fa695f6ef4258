"""The page of settings."""

from __future__ import annotations

import click
from pydantic_core import PydanticUndefined

from leaseq.cli.asking import mcp
from leaseq.cli.bridge import run
from leaseq.cli.common import data_option, redis_option
from leaseq.discovery import DEFAULT_DATA
from leaseq.webapp.commands.serve import serve
from leaseq.webapp.settings import Settings

PAGE = """# Settings

A command-line flag takes precedence over the environment variable, and that over the default. An empty
variable counts as not set. This table is made from the code.

| variable | flag | default | meaning |
|---|---|---|---|
{rows}
"""


def page() -> str:
    return PAGE.format(rows="\n".join(sorted({*_command_rows(), *_app_rows()})))


def _command_rows() -> list[str]:
    @click.command()
    @redis_option
    @data_option
    def shared_options() -> None: ...

    rows: list[str] = []
    for option in [*shared_options.params, *serve.params, *run.params, *mcp.params]:
        if isinstance(option, click.Option) and isinstance(option.envvar, str):
            default = DEFAULT_DATA if option.name == "data" else option.default
            text = (option.help or "").partition(" [env")[0]
            cell = f"`{default:g}`" if isinstance(default, float) else ""
            cell = f"`{default}`" if isinstance(default, str | int) else cell
            rows.append(f"| `{option.envvar}` | `{option.opts[0]}` | {cell} | {text} |")
    return rows


def _app_rows() -> list[str]:
    rows: list[str] = []
    for name, field in Settings.model_fields.items():
        if name == "redis_url":  # a flag of the commands as well
            continue
        is_unset = field.default is PydanticUndefined or field.default in ((), None)
        default = (
            " ".join(map(str, field.default)) if isinstance(field.default, tuple) else str(field.default)
        )
        cell = "" if is_unset else f"`{default.lower() if isinstance(field.default, bool) else default}`"
        rows.append(f"| `LEASEQ_{name.upper()}` | | {cell} | {field.description} |")
    return rows
