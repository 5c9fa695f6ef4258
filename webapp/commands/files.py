"""``leaseq files``: the files of answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leaseq.cli.common import CommandFailed, connected, emit_json, json_option

if TYPE_CHECKING:
    from leaseq import Client


@click.command(epilog="Example: leaseq files --unused --remove")
@click.option(
    "--files",
    "place",
    metavar="URL",
    envvar="LEASEQ_FILES",
    help="The folder or the bucket, as in the web app's settings. [env: LEASEQ_FILES]",
)
@click.option("--unused", is_flag=True, help="Only files that no answer names and no unfinished item needs.")
@click.option(
    "--days",
    type=click.IntRange(0, 3_650),
    default=7,
    show_default=True,
    help="With --unused: only those that arrived so many days ago.",
)
@click.option("--remove", is_flag=True, help="With --unused: delete them.")
@json_option
@connected
def files(client: Client, place: str | None, unused: bool, days: int, remove: bool, as_json: bool) -> None:
    """List the files that people sent as answers: size in bytes, and key, which begins with the queue.

    Files of removed items and deleted queues, and files that were replaced or never used, stay until this
    command deletes them.
    """
    from leaseq.webapp.files.kept import S3, open_storage
    from leaseq.webapp.files.unused import unused_files
    from leaseq.webapp.serving.problem import Problem

    if place is None:
        raise CommandFailed("name the folder or the bucket with --files or LEASEQ_FILES")
    if remove and not unused:
        raise CommandFailed("--remove deletes only with --unused")
    url = place if place.startswith(S3) else str(Path(place).resolve())
    try:
        storage = open_storage(url)
        before = datetime.now(UTC) - timedelta(days=days)
        found = unused_files(client, storage, before) if unused else storage.stored()
        shown = []
        for file in found:
            if remove:
                storage.delete(file.key)
            if as_json:
                shown.append(file)
            else:
                click.echo(f"{file.size}\t{file.key}")
    except (Problem, ValueError) as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        emit_json({"files": shown})
