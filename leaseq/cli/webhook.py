"""``leaseq webhook``: endpoints that events are sent to, and the process that sends them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from leaseq.cli.common import (
    CommandFailed,
    connected,
    emit_json,
    emit_table,
    existing_queue,
    json_option,
    stopped_by_signals,
)

if TYPE_CHECKING:
    from leaseq import Client
    from leaseq.webhooks import Delivery, Endpoint, NewSecret

BY = "the command line"
_NO_LIBRARY = "the package standardwebhooks is not installed: pip install 'leaseq[webhooks]'"

allow_option = click.option(
    "--allow",
    metavar="NETWORKS",
    envvar="LEASEQ_WEBHOOK_ALLOW",
    default="",
    help="Networks, such as 10.1.2.0/24, that are not public but to which webhooks may be sent; separated by "
    "spaces. [env: LEASEQ_WEBHOOK_ALLOW]",
)


@click.group(
    epilog="Example: leaseq webhook add https://example.org/hook --event item.finished --queue reviews"
)
def webhook() -> None:
    """Send events to other programs: add, list, test, replay and remove endpoints; run the sender."""


@webhook.command(epilog="Example: leaseq webhook add https://example.org/hook --event item.finished")
@click.argument("url")
@click.option(
    "--event",
    "events",
    multiple=True,
    metavar="TYPE",
    help="The events to send, such as item.finished or item.*; may be repeated. "
    "[default: item.* queue.empty alert.*]",
)
@click.option(
    "--queue",
    "names",
    multiple=True,
    metavar="QUEUE",
    help="Only events of this queue; may be repeated. [default: all]",
)
@allow_option
@json_option
@connected
def add(
    client: Client, url: str, events: tuple[str, ...], names: tuple[str, ...], allow: str, as_json: bool
) -> None:
    """Add an endpoint: a URL to which events are sent from now on. Its secret is shown only once."""
    from leaseq.webhooks import DEFAULT_TYPES, Endpoints, networks

    queues = [existing_queue(client, name).name for name in names]
    new_secret = Endpoints(client).add(
        url, events=events or DEFAULT_TYPES, queues=queues, by=BY, allow=networks(allow)
    )
    _show_secret(new_secret, as_json)


@webhook.command("list", epilog="Example: leaseq webhook list")
@json_option
@connected
def list_(client: Client, as_json: bool) -> None:
    """List the endpoints, with the reason if one is disabled."""
    from leaseq.webhooks import Endpoints

    endpoints = Endpoints(client).all()
    if as_json:
        emit_json({"webhooks": endpoints, "after": None})
        return
    if not endpoints:
        click.echo("there are no endpoints; add one: leaseq webhook add URL", err=True)
        return
    rows = [
        (
            endpoint.id,
            endpoint.url,
            " ".join(endpoint.events),
            " ".join(endpoint.queues) or "all",
            _state(endpoint),
        )
        for endpoint in endpoints
    ]
    emit_table(("id", "url", "events", "queues", "state"), rows)


@webhook.command(epilog="Example: leaseq webhook log wh-0a1b2c3d4e5f")
@click.argument("id")
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True)
@json_option
@connected
def log(client: Client, id: str, limit: int, as_json: bool) -> None:
    """Show the latest deliveries to an endpoint, with the last answer of each."""
    from leaseq.webhooks import Deliveries, Endpoints

    endpoint = Endpoints(client).get(id)
    deliveries = Deliveries(client).log(endpoint.id, limit)
    if as_json:
        emit_json({"deliveries": deliveries, "after": None})
        return
    rows = [
        (delivery.id, delivery.type, delivery.state, str(len(delivery.tries)), _last_answer(delivery))
        for delivery in deliveries
    ]
    emit_table(("delivery", "type", "state", "tries", "last answer"), rows)


@webhook.command(epilog="Example: leaseq webhook test wh-0a1b2c3d4e5f")
@click.argument("id")
@connected
def test(client: Client, id: str) -> None:
    """Have `webhook.test` sent to an endpoint, and print what it answered. Exit 1 unless that was 2xx.

    The process that sends webhooks sends it, with its settings, as every event: `leaseq up` or
    `leaseq webhook run`.
    """
    from leaseq.webhooks import Deliveries, Endpoints

    delivery = Deliveries(client).test(Endpoints(client).get(id))
    if delivery.state == "waiting":
        raise CommandFailed(
            "not sent yet: no process took it. Webhooks are sent by `leaseq up` and by `leaseq webhook run`: "
            "check that one runs"
        )
    if delivery.state != "delivered":
        raise CommandFailed(f"not delivered: {_last_answer(delivery)}")
    click.echo(f"delivered: {_last_answer(delivery)}")


@webhook.command(epilog="Example: leaseq webhook replay wh-0a1b2c3d4e5f --failed")
@click.argument("id")
@click.option("--since", metavar="TIME", help="All that ended since this day, or time with its zone.")
@click.option("--delivery", metavar="DELIVERY", help="Only this one; `leaseq webhook log` shows its id.")
@click.option("--failed", is_flag=True, help="Only those that failed permanently.")
@connected
def replay(client: Client, id: str, since: str | None, delivery: str | None, failed: bool) -> None:
    """Send deliveries again, under the same webhook-id: all since a time, one, or the failed ones."""
    from leaseq.transfer import time_of
    from leaseq.webhooks import Deliveries, Endpoints

    if delivery is not None and (since is not None or failed):
        raise click.UsageError("--delivery names one: leave out --since and --failed.")
    if delivery is None and since is None and not failed:
        raise click.UsageError("name what to send again: --since TIME, --delivery DELIVERY or --failed.")
    begin = None if since is None else time_of(since, "since")
    count = Deliveries(client).replay(
        Endpoints(client).get(id), since=begin, delivery=delivery, failed=failed
    )
    click.echo(f"{count:,} sent again")


@webhook.command(epilog="Example: leaseq webhook rotate wh-0a1b2c3d4e5f")
@click.argument("id")
@json_option
@connected
def rotate(client: Client, id: str, as_json: bool) -> None:
    """Create a new secret. For 24 hours, requests are signed with the old one, too."""
    from leaseq.webhooks import Endpoints

    _show_secret(Endpoints(client).rotate(id), as_json)


@webhook.command(epilog="Example: leaseq webhook enable wh-0a1b2c3d4e5f")
@click.argument("id")
@connected
def enable(client: Client, id: str) -> None:
    """Send to an endpoint again: deliveries that wait, and events from now on."""
    from leaseq.webhooks import Endpoints

    click.echo(f"{Endpoints(client).enable(id).id} is enabled")


@webhook.command(epilog="Example: leaseq webhook disable wh-0a1b2c3d4e5f")
@click.argument("id")
@connected
def disable(client: Client, id: str) -> None:
    """Send nothing to an endpoint until it is enabled. Events until then are not sent later."""
    from leaseq.webhooks import Endpoints

    click.echo(f"{Endpoints(client).disable(id, f'disabled by {BY}').id} is disabled")


@webhook.command(epilog="Example: leaseq webhook remove wh-0a1b2c3d4e5f")
@click.argument("id")
@connected
def remove(client: Client, id: str) -> None:
    """Remove an endpoint, its secret and its deliveries."""
    from leaseq.webhooks import Deliveries, Endpoints

    Endpoints(client).remove(id)
    Deliveries(client).purge(id)
    click.echo(f"{id} is removed")


@webhook.command(epilog="Example: leaseq webhook run")
@allow_option
@connected
def run(client: Client, allow: str) -> None:
    """Send webhooks until SIGTERM or Ctrl-C. `leaseq up` does this, too. Several may run at the same time."""
    from leaseq.webhooks import networks
    from leaseq.webhooks import run as send

    try:
        import standardwebhooks  # noqa: F401
    except ModuleNotFoundError as error:
        raise CommandFailed(_NO_LIBRARY) from error
    allowed_networks = networks(allow)
    click.echo("sending webhooks. Ctrl-C stops it.")
    with stopped_by_signals() as stop:
        send(client, allowed_networks, stop)


def _show_secret(new_secret: NewSecret, as_json: bool) -> None:
    if as_json:
        emit_json({"id": new_secret.endpoint.id, "secret": new_secret.secret})
        return
    click.echo(f"id      {new_secret.endpoint.id}")
    click.echo(f"secret  {new_secret.secret}")
    click.echo("The receiver verifies requests with this secret. It is not shown again.", err=True)


def _state(endpoint: Endpoint) -> str:
    format_time: Callable[[datetime], str] = "{:%Y-%m-%d %H:%M} UTC".format
    if endpoint.disabled_at is not None:
        return f"disabled since {format_time(endpoint.disabled_at)}: {endpoint.disabled_why}"
    return f"failing since {format_time(endpoint.failing_since)}" if endpoint.failing_since else "enabled"


def _last_answer(delivery: Delivery) -> str:
    if not delivery.tries:
        return ""
    last_try: Any = delivery.tries[-1]
    if last_try.status is None:
        return str(last_try.error)
    return (
        f"{last_try.status} in {last_try.seconds:.2f} s{': ' if last_try.excerpt else ''}{last_try.excerpt}"
    )
