"""``leaseq serve``: the web app under gunicorn, for a server that runs elsewhere."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from leaseq import LeaseqError
from leaseq.cli.common import data_option, redis_option, server_url


def _option(
    name: str, default: object, help: str, type: click.ParamType[Any] | None = None
) -> Callable[[Any], Any]:
    """An option that has an environment variable."""
    variable = f"LEASEQ_{name.upper()}"
    return click.option(
        f"--{name}",
        envvar=variable,
        default=default,
        show_default=True,
        type=type,
        help=f"{help} [env: {variable}]",
    )


host_option = _option(
    "host", "127.0.0.1", "The address to serve on; 0.0.0.0 means all addresses of this machine."
)
port_option = _option("port", 8000, "The port to serve on.", click.IntRange(1, 65535))
workers_option = _option("workers", 2, "Web processes, about one per core.", click.IntRange(1, 64))
threads_option = _option(
    "threads", 16, "Requests that each web process handles at the same time.", click.IntRange(1, 256)
)


class PortTaken(LeaseqError):
    """The web address can't be used."""


@click.command(epilog="Example: LEASEQ_SECRET_KEY=… leaseq serve --redis redis://localhost:6379/0")
@redis_option
@data_option
@host_option
@port_option
@workers_option
@threads_option
def serve(redis: str | None, data: Path, host: str, port: int, workers: int, threads: int) -> None:
    """Serve the pages and the REST API, using a server that runs elsewhere.

    LEASEQ_SECRET_KEY is the key that signs sessions: 32 random characters or more, the same for
    every web process. If systemd passes a socket (docs/how-to/deploy.md), --host and --port do not count.
    """
    from leaseq.webapp.settings import load_settings

    os.environ["LEASEQ_REDIS_URL"] = server_url(redis, data)
    load_settings()
    if os.environ.get("LISTEN_PID") != str(os.getpid()):  # else systemd passes its socket
        refuse_taken_port(host, port)
    argv = gunicorn_argv(host, port, workers, threads)
    os.execv(argv[0], argv)  # noqa: S606 (gunicorn replaces this process, and so gets its signals)


def gunicorn_argv(host: str, port: int, workers: int, threads: int, *, log_level: str = "info") -> list[str]:
    """The command line that runs the web app. Settings without a flag are in
    webapp/serving/gunicorn_conf.py."""
    options = {
        "config": "python:leaseq.webapp.serving.gunicorn_conf",
        "bind": address(host, port),
        "workers": str(workers),
        "log-level": log_level,
        "env": f"LEASEQ_THREADS={threads}",
    }
    words = [word for key, value in options.items() for word in (f"--{key}", value)]
    return [sys.executable, "-m", "gunicorn", *words, "leaseq.webapp.wsgi:app"]


def address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def refuse_taken_port(host: str, port: int) -> None:
    """Raise PortTaken if the address can't be used.

    gunicorn would not notice: with SO_REUSEPORT two programs of one user share a port, each getting
    some of the requests.
    """
    try:
        family, kind, protocol, _, socket_address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gunicorn: TIME_WAIT is free
            probe.bind(socket_address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"port {port} on {host} is taken by another program: stop that one, or choose another port "
                "with --port"
            ) from None
        if error.errno == errno.EACCES:
            raise PortTaken(
                f"port {port} may be used by root only: choose one above 1023 with --port, and put a web "
                "server in front of it"
            ) from None
        raise PortTaken(
            f"cannot serve on {host}: {error.strerror}; choose another address with --host"
        ) from None
