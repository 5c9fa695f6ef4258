"""The command group: loads commands on demand, and turns errors into exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

import click

from leaseq.cli.common import CommandFailed, CommandMisused
from leaseq.errors import Invalid, LeaseqError
from leaseq.suggestions import did_you_mean

EXTRAS = {"bridge": "bridge"}
"""The extra of the package that a command needs, if that is not ``web``."""


class CommandGroup(click.Group):
    """Loads its commands (name: module, one line of help) and those of entry points on demand. Listing
    them imports none: ``plugged_help`` has the help lines of entry points, since the web app takes a second
    to import."""

    def __init__(
        self,
        *args: Any,
        own_commands: Mapping[str, tuple[str, str]],
        entry_point_group: str,
        plugged_help: Mapping[str, str],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._own_commands = own_commands
        self._entry_point_group = entry_point_group
        self._plugged_help = plugged_help

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted({*self._own_commands, *self._entry_points()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in self._own_commands:
            module, _, name = self._own_commands[cmd_name][0].partition(":")
            return _command(getattr(import_module(module), name))
        entry = self._entry_points().get(cmd_name)
        if entry is None:
            return None
        try:
            return _command(entry.load())
        except ModuleNotFoundError as error:
            self._raise_missing_extra(cmd_name, error)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known_names = args[0], self.list_commands(ctx)
        if name not in known_names and not name.startswith("-"):
            suggestion = did_you_mean(name, known_names)
            ctx.fail(f"there is no command {name!r}" + (f"; {suggestion}" if suggestion else "."))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self._help(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _help(self, name: str) -> str:
        return self._own_commands[name][1] if name in self._own_commands else self._plugged_help.get(name, "")

    def _entry_points(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=self._entry_point_group)}

    def main(self, *args: Any, **kwargs: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # for terminals that lack a character
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Invalid as error:
            raise CommandMisused(str(error)) from error
        except click.MissingParameter:
            raise
        except click.BadParameter as error:  # the value is wrong: the usage would not help
            raise CommandMisused(error.format_message()) from error
        except LeaseqError as error:
            raise CommandFailed(str(error)) from error
        except ModuleNotFoundError as error:
            if ctx.invoked_subcommand not in self._own_commands or ctx.invoked_subcommand in EXTRAS:
                self._raise_missing_extra(str(ctx.invoked_subcommand), error)
            raise
        except BrokenPipeError:
            _discard_stdout()  # the reader closed the pipe: not a failure
        except OSError as error:
            prefix = f"{error.filename}: " if error.filename else ""
            raise CommandFailed(f"{prefix}{error.strerror or error}") from error
        return None

    def _raise_missing_extra(self, name: str, error: ModuleNotFoundError) -> NoReturn:
        package = (error.name or "").partition(".")[0]
        if package in ("", "leaseq"):
            raise error
        extra = EXTRAS.get(name, "web")
        message = f"`leaseq {name}` needs the {extra} parts, and {package} is not installed"
        raise CommandFailed(f"{message}: pip install 'leaseq[{extra}]'") from error


def _command(command: object) -> click.Command:
    if not isinstance(command, click.Command):
        raise TypeError(f"{command!r} is not a click command")
    return command


def _discard_stdout() -> None:
    """Redirect standard output to the null device, as Python's docs (signal, Note on SIGPIPE) advise:
    otherwise what is still buffered would be written at exit, and fail again."""
    with suppress(OSError, ValueError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
        os.close(null_device)
