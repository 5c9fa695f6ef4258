"""The command line. Modules that a command needs in addition to click are imported when it runs."""

from __future__ import annotations

import click

from leaseq.cli.common import CommandGroup

EXAMPLE = "Example: leaseq queue create reviews && leaseq import reviews reviews.csv"

COMMANDS = {
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
    "queue": (
        "leaseq.cli.queues:queue",
        "Create, change, show and delete queues; revive and remove items.",
    ),
    "restore": ("leaseq.cli.backup:restore", "Restore a backup into a server."),
    "simulate": ("leaseq.cli.simulate:simulate", "Simulate people who work on a queue."),
    "stats": ("leaseq.cli.stats:stats", "Show how many items are in each state."),
    "webhook": ("leaseq.cli.webhook:webhook", "Send events to other programs, signed, over HTTP."),
    "work": ("leaseq.cli.work:work", "Run a function as a worker of a queue."),
}

# Commands that the web parts add.
PLUGGED_COMMANDS = {
    "person": "Export and erase the data of a person.",
    "serve": "Serve the pages and the REST API, using a server that runs elsewhere.",
    "token": "Create, list and revoke tokens for the REST API.",
    "up": "Run all of leaseq on this machine.",
    "user": "Add, list, disable and enable people, set passwords.",
}


@click.group(
    cls=CommandGroup,
    own_commands=COMMANDS,
    entry_point_group="leaseq.commands",
    plugged_help=PLUGGED_COMMANDS,
    epilog=EXAMPLE,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="leaseq", prog_name="leaseq")
def main() -> None:
    """leaseq gives work items to people, one at a time, under a lease.

    Every command uses the server of --redis URL (or LEASEQ_REDIS_URL), or else the server of the
    `leaseq up` that is running on --data DIR.
    """
