"""`leaseq ask` asks a person from a shell, `leaseq mcp` lets models ask."""

from __future__ import annotations

import secrets
import shlex
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from leaseq.cli.common import (
    CommandFailed,
    CommandMisused,
    addressee,
    connected,
    emit_json,
    existing_queue,
    stopped_by_signals,
)
from leaseq.errors import NotAnswered, StillWaiting
from leaseq.models import Json
from leaseq.validation import load_json

if TYPE_CHECKING:
    from leaseq import Client


class _NotAnswered(CommandFailed):
    exit_code = 3


class _StillOpen(CommandFailed):
    exit_code = 4


def _json(_context: click.Context, parameter: click.Parameter, text: str | None) -> Json:
    """The value of an option; ``...`` without it, since null is a value."""
    return ... if text is None else load_json(text, str(parameter.name))


@click.command(
    epilog="""Example: echo '{"text": "Refund 80 EUR?"}' | leaseq ask refunds --id refund-40-1182"""
)
@click.argument("name", metavar="QUEUE")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--payload", metavar="JSON", callback=_json, help="What the person sees, instead of FILE.")
@click.option("--id", help="Makes the command safe to repeat: the same id is the same question.")
@click.option(
    "--form",
    "form_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A JSON file with this question's form. [default: the queue's form]",
)
@click.option("--to", metavar="NAME", help="The only person who may answer.")
@click.option("--skill", "requires", multiple=True, help="A skill that a person needs; may be repeated.")
@click.option("--priority", type=int, help="Smaller is sooner. [default: 100]")
@click.option("--by", metavar="NAME", help="Who asks, as the person who answers reads it.")
@click.option(
    "--timeout",
    type=float,
    default=3_600,
    show_default=True,
    metavar="SECONDS",
    help="Nobody needs the answer after that.",
)
@click.option(
    "--wait", type=float, metavar="SECONDS", help="How long to wait for it. [default: as long as --timeout]"
)
@click.option("--default", metavar="JSON", callback=_json, help="Printed if nobody answers.")
@click.option("--wait-for", metavar="ID", help="Wait for the answer of a question that was asked before.")
@connected
def ask(
    client: Client,
    /,
    name: str,
    file: IO[bytes],
    wait_for: str | None,
    timeout: float,
    wait: float | None,
    default: Json,
    **options: Any,
) -> None:
    """Ask a person in QUEUE, and print the answer as JSON.

    The payload is the JSON of FILE, or of standard input. Exits with 3 if nobody answered in time, or will;
    with 4 if --wait is over or Ctrl-C ended the wait: the question stays open.
    """
    queue = existing_queue(client, name)
    try:
        with stopped_by_signals() as stop:
            if wait_for is None:
                if options["to"] is not None:
                    options["to"] = addressee(client, name, options["to"])
                question = _question(file, **options)
                answer = queue.ask(timeout=timeout, wait=wait, stop=stop, **question).result
            else:
                answer = queue.wait_for(wait_for, timeout if wait is None else wait, stop=stop).result
    except NotAnswered as error:
        if default is ...:
            raise _NotAnswered(str(error)) from None
        answer = default
    except StillWaiting as error:
        command = shlex.join(["leaseq", "ask", queue.name, "--wait-for", error.id])
        raise _StillOpen(f"nobody has answered yet. To wait again: {command}") from None
    emit_json(answer)


def _question(
    file: IO[bytes], *, payload: Json, id: str | None, form_file: Path | None, **options: Any
) -> dict[str, Any]:
    """The arguments of `Queue.ask`."""
    if payload is ...:
        if file.isatty():
            raise CommandMisused("what is the question? Name a FILE, use --payload JSON, or a pipe")
        payload = load_json(file.read(), "payload")
    if form_file is not None:
        options["form"] = load_json(form_file.read_bytes(), "form")
    id = secrets.token_hex(12) if id is None else id
    click.echo(f"Question {id} waits for an answer. Ctrl-C leaves it open.", err=True)
    return {"payload": payload, "id": id} | {
        name: value for name, value in options.items() if value not in (None, ())
    }


@click.command(epilog="Example: LEASEQ_TOKEN=... leaseq mcp --url https://leaseq.example.org --queue refunds")
@click.option(
    "--url",
    required=True,
    envvar="LEASEQ_URL",
    help="The address of the leaseq app in which models ask. [env: LEASEQ_URL]",
)
@click.option(
    "--token",
    envvar="LEASEQ_TOKEN",
    help="The token with which models ask, of scope `ask`. [env: LEASEQ_TOKEN]",
)
@click.option(
    "--queue", "queues", multiple=True, required=True, help="Where models may ask; the first is the default."
)
@click.option(
    "--timeout",
    type=click.FloatRange(1, 315_360_000),
    default=3_600,
    show_default=True,
    metavar="SECONDS",
    help="How long people have to answer.",
)
@click.option(
    "--port", type=click.IntRange(1, 65_535), help="Serve HTTP instead of standard input and output."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to serve HTTP on.")
def mcp(
    url: str, token: str | None, queues: tuple[str, ...], timeout: float, port: int | None, host: str
) -> None:
    """Let models ask people, by the Model Context Protocol over the REST API of a leaseq app.

    With --port, each client sends a token of its own to http://HOST:PORT/mcp, in the header `Authorization:
    Bearer TOKEN`.
    """
    if port is None and not token:
        raise CommandMisused("LEASEQ_TOKEN is not set: `leaseq token create NAME --scope ask` prints a token")
    from leaseq.agents.mcp import Tools, make_server

    server = make_server(Tools(url, token if port is None else None, queues, timeout))
    if port is None:
        server.run()
    else:
        server.run("streamable-http", host=host, port=port)
