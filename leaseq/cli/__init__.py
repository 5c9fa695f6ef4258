"""The command line. Modules that a command needs in addition to click are imported when it runs."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

import click

from leaseq.cli.common import CommandFailed, CommandMisused
from leaseq.errors import Invalid, LeaseqError
from leaseq.names import did_you_mean

GROUP = "leaseq.commands"
EXAMPLE = "Example: leaseq queue create reviews && leaseq import reviews reviews.csv"

COMMANDS = {
    "ask": ("leaseq.cli.asking:ask", "Ask a person, and print the answer."),
    "backup": ("leaseq.cli.backup:backup", "Write all queues, people and other stored data to a file."),
    "bridge": ("leaseq.cli.bridge:bridge", "Connect queues with a SQL database."),
    "clear": ("leaseq.cli.clear:clear", "Return items whose lease expired; release items that are due."),
    "doctor": (
        "leaseq.cli.doctor:doctor",
        "Check the server for anything that could lose data or let someone in.",
    ),
    "export": (
        "leaseq.cli.exports:export_command",
        "Write a queue's answers or items to a file or standard output.",
    ),
    "import": ("leaseq.cli.imports:import_command", "Import items from a file or standard input."),
    "mcp": ("leaseq.cli.asking:mcp", "Let models ask people, by the Model Context Protocol."),
    "queue": (
        "leaseq.cli.queues:queue",
        "Create, change, show and delete queues; revive, cancel and remove items.",
    ),
    "restore": ("leaseq.cli.backup:restore", "Restore a backup into a server."),
    "simulate": ("leaseq.cli.work:simulate", "Simulate people who work on a queue."),
    "stats": ("leaseq.cli.stats:stats", "Show how many items are in each state."),
    "webhook": ("leaseq.cli.webhook:webhook", "Send events to other programs, signed, over HTTP."),
    "work": ("leaseq.cli.work:work", "Run a function as a worker of a queue."),
}

# Commands that the web parts add.
PLUGGED_COMMANDS = {
    "files": "List the files that people sent, and delete unused ones.",
    "person": "Export and erase the data of a person.",
    "serve": "Serve the pages and the REST API, using a server that runs elsewhere.",
    "token": "Create, list and revoke tokens for the REST API.",
    "up": "Run all of leaseq on this machine.",
    "user": "Add, list, disable and enable people, set passwords.",
}


EXTRAS = {"bridge": "bridge", "mcp": "mcp"}
"""The extra of the package that a command needs, if that is not ``web``."""


class CommandGroup(click.Group):
    """The commands above, and those of other packages' entry points, each loaded when it is called: the web
    app takes a second to import."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted({*COMMANDS, *_entry_points()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        own = COMMANDS.get(cmd_name)
        entry = EntryPoint(cmd_name, own[0], GROUP) if own else _entry_points().get(cmd_name)
        if entry is None:
            return None
        try:
            command: click.Command = entry.load()
        except ModuleNotFoundError as error:
            self._raise_missing_extra(cmd_name, error)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known_names = args[0], self.list_commands(ctx)
        if name not in known_names and not name.startswith("-"):
            ctx.fail(f"there is no command {name!r}{did_you_mean(name, known_names) or '.'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        help_lines = PLUGGED_COMMANDS | {name: help for name, (_, help) in COMMANDS.items()}
        rows = [(name, help_lines.get(name, "")) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

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
            if ctx.invoked_subcommand not in COMMANDS or ctx.invoked_subcommand in EXTRAS:
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


def _entry_points() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _discard_stdout() -> None:
    """Redirect standard output to the null device, as Python's docs (signal, Note on SIGPIPE) advise:
    otherwise what is still buffered would be written at exit, and fail again."""
    with suppress(OSError, ValueError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
        os.close(null_device)


@click.group(cls=CommandGroup, epilog=EXAMPLE, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="leaseq", prog_name="leaseq")
def main() -> None:
    """leaseq gives work items to people, one at a time, under a lease.

    Every command uses the server of --redis URL (or LEASEQ_REDIS_URL), or else the server of the
    `leaseq up` that is running on --data DIR.
    """
