"""``leaseq up``: run everything on this machine with one command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leaseq.cli.common import CommandFailed
from leaseq.webapp.commands.serve import (
    address,
    gunicorn_argv,
    host_option,
    port_option,
    refuse_taken_port,
    threads_option,
    workers_option,
)
from leaseq.webapp.serving import shutdown

if TYPE_CHECKING:
    from leaseq.server.datadir import DataDir
    from leaseq.server.supervisor import Supervisor

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (compared, not bound)
LOG = "LEASEQ_LOG"
DATABASE = "LEASEQ_DATABASE"
WEBHOOK_ALLOW = "LEASEQ_WEBHOOK_ALLOW"
BRIDGE = "LEASEQ_BRIDGE_"  # the prefix of its settings
LOOPBACK = ("127.", "::1", "localhost")


@click.command(epilog="Example: leaseq up --demo")
@click.option(
    "--redis",
    metavar="URL",
    envvar="LEASEQ_REDIS_URL",
    help="Use this server instead of starting one. [env: LEASEQ_REDIS_URL]",
)
@click.option(
    "--data",
    metavar="DIR",
    envvar="LEASEQ_DATA",
    default="leaseq-data",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The data directory; created if missing, readable by you only. [env: LEASEQ_DATA]",
)
@host_option
@port_option
@click.option("--demo", is_flag=True, help="Add a queue of 40 example messages.")
@click.option(
    "--database",
    metavar="URL",
    envvar=DATABASE,
    help="Run the bridge to this SQL database too; creates its tables. [env: LEASEQ_DATABASE]",
)
@workers_option
@threads_option
def up(
    redis: str | None,
    data: Path,
    host: str,
    port: int,
    demo: bool,
    database: str | None,
    workers: int,
    threads: int,
) -> None:
    """Run all of leaseq on this machine: the server, the web app, the clear job and the webhooks.

    Every acknowledged change is on the disk. Ctrl-C stops it; the data is kept for the next `leaseq up`.
    """
    from leaseq.server.supervisor import Signals, Stopped, Supervisor

    with suppress(Stopped), Signals() as signals:
        import gunicorn  # noqa: F401 (if only the library is installed, this fails before anything starts)

        from leaseq.server.datadir import DataDir

        with DataDir(data, check=signals.check) as directory:
            refuse_taken_port(host, port)
            if database is not None:
                _make_tables(database)
            startup = _Startup(directory, redis, host, port)
            startup.settle()
            with Supervisor(signals, on_change=startup.publish) as supervisor:
                startup.start_server(supervisor)
                link = startup.prepare(demo=demo)
                startup.start_web(supervisor, workers, threads)
                startup.start_jobs(supervisor, database)
                startup.announce(link, demo=demo)
                supervisor.run()


def _make_tables(database: str) -> None:
    """Create the bridge's tables, or raise CommandFailed with what is wrong with the database."""
    result = subprocess.run(
        _command("bridge", "init"),
        env={**os.environ, DATABASE: database},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if result.returncode:
        raise CommandFailed(result.stderr.removeprefix("leaseq: "))


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "leaseq", *words]


def _settings(prefix: str) -> dict[str, str]:
    """The environment's settings whose names begin so."""
    return {name: value for name, value in os.environ.items() if name.startswith(prefix)}


class _Startup:
    """The state of ``leaseq up`` while it starts."""

    def __init__(self, directory: DataDir, redis: str | None, host: str, port: int) -> None:
        from leaseq.server.embedded import EmbeddedServer

        self._directory = directory
        self._embedded = None if redis else EmbeddedServer(directory.path)
        self._url = redis or (self._embedded.url if self._embedded else "")
        self._host, self._port = host, port
        self._web = f"http://{address(EVERYWHERE.get(host, host), port)}"

    def settle(self) -> None:
        """Put the web app's settings into the environment, and refuse invalid ones."""
        from leaseq.webapp.settings import load_settings

        os.environ["LEASEQ_REDIS_URL"] = self._url
        os.environ.setdefault("LEASEQ_SECRET_KEY", self._directory.secret_key())
        os.environ.setdefault("LEASEQ_FILES", str(self._directory.path.resolve() / "files"))
        load_settings()

    def publish(self, pids: Mapping[str, int]) -> None:
        self._directory.publish(url=self._url, web=self._web, pids=pids)

    def start_server(self, supervisor: Supervisor) -> None:
        from leaseq.server.supervisor import Child

        if self._embedded is None:
            return
        self._embedded.make_folders()
        server = Child(
            "server",
            self._embedded.command(),
            ready=self._embedded.is_answering,
            ready_timeout=600,  # it responds once it has read its file, which may be long
            settings=self._embedded.environment(),
            pass_fds=(self._directory.lock_fd,),  # no second server on these files while this one lives
            end_reason=self._embedded.end_reason,
        )
        supervisor.start(server)

    def prepare(self, *, demo: bool) -> str | None:
        """Fill the demo queue if ``demo``. Returns the set-up link if there is no admin yet."""
        import leaseq
        from leaseq.webapp.demo import add_demo
        from leaseq.webapp.store.accounts import Accounts

        client = leaseq.connect(self._url)
        try:
            if demo:
                add_demo(client)
            token = Accounts(client).setup_token()
        except leaseq.ServerUnavailable as error:
            if self._embedded is None or self._embedded.is_answering():
                raise
            why = f"{error.values.get('why', error)}: {self._embedded.end_reason()}"
            raise leaseq.ServerUnavailable(error.rule, **{**error.values, "why": why}) from None
        finally:
            client.close()
        return f"{self._web}/setup?token={token}" if token else None

    def start_web(self, supervisor: Supervisor, workers: int, threads: int) -> None:
        from leaseq.server.supervisor import SETTING_PREFIX, Child

        # A terminal shows warnings and errors; with a log format in the settings, everything is logged.
        log_level = "info" if LOG in os.environ else "warning"
        argv = gunicorn_argv(self._host, self._port, workers, threads, log_level=log_level)
        web = Child(
            "web",
            argv,
            ready=self._answers,
            ready_timeout=300,  # the first start compiles all code: minutes on a small or busy machine
            grace=Child.grace + shutdown.drain_seconds(),
            settings=_settings(SETTING_PREFIX),
            pass_fds=(self._directory.lock_fd,),  # the next `leaseq up` waits until it has released the port
        )
        supervisor.start(web)

    def start_jobs(self, supervisor: Supervisor, database: str | None) -> None:
        """Start the clear job, the webhooks and, with a database, the bridge."""
        from leaseq.server.supervisor import Child

        server = {"LEASEQ_REDIS_URL": self._url}
        clear = _command("clear", "--all", "--every", "1")
        supervisor.start(Child("clear", clear, settings=server, quiet=True))
        webhook_settings = server | _settings(WEBHOOK_ALLOW)
        supervisor.start(Child("webhooks", _command("webhook", "run"), settings=webhook_settings, quiet=True))
        if database is not None:
            bridge_settings = _settings(BRIDGE) | server | {DATABASE: database}
            supervisor.start(Child("bridge", _command("bridge", "run"), settings=bridge_settings))

    def announce(self, link: str | None, *, demo: bool) -> None:
        click.echo(f"leaseq serves on {self._web}")
        if link:
            click.echo(f"First, choose the admin's name and password (once, within a day): {link}")
        if demo:
            click.echo("The queue `demo` has 40 example messages.")
        if not self._host.startswith(LOOPBACK):
            click.echo(
                "It is reachable from other machines, without TLS: read docs/how-to/deploy.md before a team "
                "uses it."
            )
        click.echo(f"The data is in {self._directory.path}. Ctrl-C stops it.")

    def _answers(self) -> bool:
        host = EVERYWHERE.get(self._host, self._host)
        connection = HTTPConnection(host, self._port, timeout=5)
        try:
            connection.request("GET", "/healthz", headers={"Connection": "close"})
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()
