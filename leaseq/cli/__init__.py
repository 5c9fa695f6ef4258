"""The command line. What a command needs beyond click is imported when it runs."""

from __future__ import annotations

import click

from leaseq.cli.group import CommandGroup

EXAMPLE = "Example: leaseq queue create reviews && leaseq import reviews reviews.csv"

COMMANDS = {
    "bench": ("leaseq.cli.bench:bench", "Measure the engine against the bare script it is compared with."),
    "clear": ("leaseq.cli.clear:clear", "Return items whose lease ran out; release what is due."),
    "doctor": ("leaseq.cli.doctor:doctor", "Say what at the server would lose data or let someone in."),
    "export": ("leaseq.cli.transfers:export_command", "Write a queue's answers to a file or a pipe."),
    "import": ("leaseq.cli.transfers:import_command", "Fill a queue from a file or a pipe."),
    "queue": ("leaseq.cli.queues:queue", "Create, change, show and pause queues; revive what is dead."),
    "simulate": ("leaseq.cli.simulate:simulate", "Let made-up people work on a queue."),
    "stats": ("leaseq.cli.stats:stats", "Count what waits, is in work and is done."),
    "work": ("leaseq.cli.work:work", "Let a function work on a queue, beside people."),
}

# What the web parts plug in.
PLUGGED = {
    "serve": "Serve the pages and the REST API, against a server that runs elsewhere.",
    "token": "Create, list and revoke tokens for the REST API.",
    "up": "Run all of leaseq on this machine.",
    "user": "Add and list people, change passwords, disable.",
}


@click.group(
    cls=CommandGroup,
    own=COMMANDS,
    plugged="leaseq.commands",
    plugged_help=PLUGGED,
    epilog=EXAMPLE,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="leaseq", prog_name="leaseq")
def main() -> None:
    """leaseq hands out work items to people, one each, under a lease.

    Every command finds its server by --redis URL (or LEASEQ_REDIS_URL), else it is the one that
    `leaseq up` runs for --data DIR.
    """
