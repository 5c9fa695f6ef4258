"""Process supervisor: starts child processes in order, restarts those that end, stops all of them.

Each child leads a process group of its own. So Ctrl-C reaches only the supervisor, which then stops the
children in reverse order, and processes that a killed child leaves behind can be ended, too. On Linux the
kernel ends the children if the supervisor itself is killed. Use it from the main thread.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Self

from leaseq.errors import LeaseqError

FIRST_BACKOFF = 0.5  # seconds; doubled each time
LONGEST_BACKOFF = 30.0
STABLE_SECONDS = 60.0  # a child that ran this long starts again with the first back-off
SETTING_PREFIX = "LEASEQ_"  # the prefix of leaseq's environment variables
_POLL = 0.02


class ChildFailed(LeaseqError):
    """A child ended, or wasn't ready in time, while everything was still being started."""


class Stopped(Exception):
    """SIGINT or SIGTERM came before everything was started."""


@dataclass(frozen=True)
class Child:
    """A command, its environment settings, and the check that it is ready."""

    name: str
    argv: Sequence[str]
    ready: Callable[[], bool] | None = None  # called until it returns True, before the next child is started
    ready_timeout: float = 60.0  # seconds
    grace: float = 15.0  # seconds from SIGTERM to SIGKILL
    pass_fds: tuple[int, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    quiet: bool = False  # its standard output is discarded
    end_reason: Callable[[], str] | None = None  # returns why it ended


@dataclass
class _RunningChild:
    child: Child
    process: subprocess.Popen[bytes] | None = None  # None from its end to its next start
    started_at: float = 0.0
    backoff: float = FIRST_BACKOFF
    restart_at: float = 0.0  # when to start it again, once it has ended
    zombie: subprocess.Popen[bytes] | None = None  # not reaped: its pid still identifies its group


class Signals:
    """The signals SIGINT and SIGTERM as a request to stop, which takes effect between two steps and never
    within one.

    SIGCHLD ends a ``wait`` as well.
    """

    def __init__(self) -> None:
        self.stopping = False
        self._handlers: dict[int, object] = {}

    def __enter__(self) -> Self:
        self._wake_read, self._wake_write = socket.socketpair()
        for end in (self._wake_read, self._wake_write):
            end.setblocking(False)
        self._wakeup_before = signal.set_wakeup_fd(self._wake_write.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            self._handlers[number] = signal.signal(number, self._stop)
        self._handlers[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _ignore_signal)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        signal.set_wakeup_fd(self._wakeup_before)
        self._wake_read.close()
        self._wake_write.close()

    def check(self) -> None:
        """Raise Stopped if a stop was requested."""
        if self.stopping:
            raise Stopped

    def wait(self, seconds: float | None) -> None:
        """Sleep for this time, or until a signal comes."""
        select.select([self._wake_read], [], [], seconds)
        with suppress(BlockingIOError):
            while self._wake_read.recv(64):
                pass

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stopping = True


class Supervisor:
    """``start`` the children one by one, then ``run`` until SIGINT or SIGTERM; the end of the ``with`` block
    stops all of them."""

    def __init__(self, signals: Signals, *, on_change: Callable[[Mapping[str, int]], None]) -> None:
        self._signals = signals
        self._on_change = on_change  # called with the pids whenever one is new
        self._children: list[_RunningChild] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for entry in reversed(self._children):
            _kill_remaining(entry)
            if entry.process is not None:
                end(entry.process, entry.child.grace)

    def start(self, child: Child) -> None:
        """Start a child and wait until it is ready. Raises ChildFailed if it does not get ready."""
        self._signals.check()
        entry = _RunningChild(child)
        self._children.append(entry)
        process = self._launch(entry)
        deadline = time.monotonic() + child.ready_timeout
        while child.ready is not None and not child.ready():
            if has_ended(process):
                raise ChildFailed(
                    f"{child.name} {_exit_text(_exit_code(process))} before it was ready{_end_reason(child)}"
                )
            if time.monotonic() > deadline:
                limit = f"within {child.ready_timeout:g} seconds"
                raise ChildFailed(f"{child.name} was not ready {limit}{_end_reason(child)}")
            self._signals.wait(_POLL)
            self._signals.check()

    def run(self) -> None:
        """Watch the children, and restart those that end, until SIGINT or SIGTERM."""
        while not self._signals.stopping:
            for entry in self._children:
                self._restart_if_ended(entry)
            restart_times = [entry.restart_at for entry in self._children if entry.process is None]
            self._signals.wait(max(0.0, min(restart_times) - time.monotonic()) if restart_times else None)

    def _restart_if_ended(self, entry: _RunningChild) -> None:
        now, process = time.monotonic(), entry.process
        if process is None:
            if now >= entry.restart_at and not self._signals.stopping:
                self._launch(entry)
            return
        if not has_ended(process):
            return
        entry.zombie, entry.process = process, None
        # Processes that it left behind get SIGTERM now, and SIGKILL before the next start.
        _signal_group(process.pid, signal.SIGTERM)
        code = _exit_code(process)
        if now - entry.started_at > STABLE_SECONDS:
            entry.backoff = FIRST_BACKOFF
        reason = _end_reason(entry.child) if code > 0 else ""
        print_message(
            f"{entry.child.name} {_exit_text(code)}; starting it again in {entry.backoff:g} s{reason}"
        )
        entry.restart_at = now + entry.backoff
        entry.backoff = min(LONGEST_BACKOFF, entry.backoff * 2)

    def _launch(self, entry: _RunningChild) -> subprocess.Popen[bytes]:
        child = entry.child
        _kill_remaining(entry)
        entry.process = process = spawn(
            child.argv, pass_fds=child.pass_fds, settings=child.settings, quiet=child.quiet
        )
        entry.started_at = time.monotonic()
        self._on_change(
            {child.child.name: child.process.pid for child in self._children if child.process is not None}
        )
        return process


def spawn(
    argv: Sequence[str],
    *,
    pass_fds: tuple[int, ...] = (),
    settings: Mapping[str, str] | None = None,
    quiet: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, which the kernel ends if this one is killed (on Linux).

    It inherits the environment without leaseq's settings, some of which are secrets, and gets those in
    ``settings``.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith(SETTING_PREFIX)}
    return subprocess.Popen(
        argv,
        env={**environment, **(settings or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else None,
        pass_fds=pass_fds,
        process_group=0,
        preexec_fn=_die_with_parent(),  # noqa: PLW1509 (one system call, looked up before the fork)
    )


def end(process: subprocess.Popen[bytes], grace: float) -> None:
    """Send SIGTERM, and after ``grace`` seconds SIGKILL; then kill the rest of its group."""
    if process.returncode is not None:
        return
    if not has_ended(process):
        process.terminate()
    deadline = time.monotonic() + grace
    while not has_ended(process) and time.monotonic() < deadline:
        time.sleep(_POLL)
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def print_message(line: str) -> None:
    sys.stderr.write(f"leaseq: {line}\n")
    sys.stderr.flush()


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process has ended. It is not reaped, so that its pid still identifies its group."""
    if process.returncode is not None:
        return True
    status = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return status is not None


def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a child that has ended and is not reaped yet, or minus the signal that killed it."""
    status = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    if status is None:
        return process.wait()
    return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status


def _kill_remaining(entry: _RunningChild) -> None:
    """Kill the processes that an ended child left behind, and reap the child."""
    process, entry.zombie = entry.zombie, None
    if process is not None:
        _signal_group(process.pid, signal.SIGKILL)
        process.wait()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _die_with_parent() -> Callable[[], None] | None:
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def set_death_signal() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # the parent was killed before this call
            os._exit(1)

    return set_death_signal


_PR_SET_PDEATHSIG = 1


def _exit_text(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _end_reason(child: Child) -> str:
    return f": {child.end_reason()}" if child.end_reason is not None else ""


def _ignore_signal(_number: int, _frame: FrameType | None) -> None:
    """A handler that does nothing. Without one, SIGCHLD would not end a wait."""
