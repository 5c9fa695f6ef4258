"""The supervisor as a separate process, since it handles the signals of its process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import is_alive
from tests.support.waiting import TIMEOUT, eventually

PROGRAM = """
import json, os, sys
from pathlib import Path
from leaseq.server import supervisor as module
from leaseq.server.supervisor import Child, ChildFailed, Signals, Stopped, Supervisor

module.STABLE_SECONDS = float(sys.argv[3])
folder = Path(sys.argv[1])

def changed(pids):
    part = folder / "part"
    part.write_text(json.dumps(pids))
    part.replace(folder / "pids")

def child(name, script, **more):
    return Child(name, [sys.executable, "-c", script, str(folder)], **more)

waits = 0

class CountingSignals(Signals):
    def wait(self, seconds):
        global waits
        waits += 1
        super().wait(seconds)

try:
    with CountingSignals() as signals, Supervisor(signals, on_change=changed) as supervisor:
        for name, script, more in json.loads(sys.argv[2]):
            ready = more.pop("ready", None)
            supervisor.start(child(name, script, ready=(folder / ready).exists if ready else None, **more))
        (folder / "started").touch()
        supervisor.run()
except ChildFailed as error:
    sys.exit(str(error))
except Stopped:
    sys.exit(0)
finally:
    (folder / "waits").write_text(str(waits))
"""

SLEEPS = "import sys, time; time.sleep(600)"
# Writes its name when it ends, to show the order.
LOGS_ITS_END = """
import signal, sys, time
def end(*_):
    with open(sys.argv[1] + "/ends", "a") as file: file.write("{name} ")
    sys.exit()
signal.signal(signal.SIGTERM, end)
open(sys.argv[1] + "/{name}-ready", "w").close()
while True: time.sleep(600)
"""
WRITES_ITS_SETTINGS = """
import os, sys, time
from pathlib import Path
part = Path(sys.argv[1], "part-3")
part.write_text(" ".join(sorted(n for n in os.environ if n.startswith(("LEASEQ_", "OTHER_")))))
part.rename(sys.argv[1] + "/settings")
time.sleep(600)
"""
IGNORES_SIGTERM = """
import signal, subprocess, sys, time
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = subprocess.Popen(["sleep", "600"])
part = Path(sys.argv[1], "part-2")
part.write_text(str(grandchild.pid))
part.rename(sys.argv[1] + "/grandchild")
while True: time.sleep(600)
"""

# Starts a process that reacts to SIGTERM, or ignores it, and goes on.
LEAVES_A_PROCESS = """
import subprocess, sys, time
program = '''
import signal, sys, time
def polite(*_):
    open(sys.argv[1] + "/good-bye", "w").close()
    sys.exit()
signal.signal(signal.SIGTERM, {handler})
print(flush=True)
time.sleep(600)
'''
words = [sys.executable, "-c", program, sys.argv[1]]
left = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
left.stdout.readline()
with open(sys.argv[1] + "/left", "a") as file: file.write(f"{left.pid}\\n")
"""


@contextmanager
def run_supervisor(
    folder: Path, *children: tuple[str, str, dict[str, Any]], steady: float = 60
) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PROGRAM, str(folder), json.dumps(children), str(steady)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=TIMEOUT)


def read_pids(folder: Path) -> dict[str, int]:
    by_name: dict[str, int] = json.loads((folder / "pids").read_text())
    return by_name


def test_children_start_in_sequence_and_stop_in_reverse(tmp_path: Path) -> None:
    children = [(n, LOGS_ITS_END.replace("{name}", n), {"ready": f"{n}-ready"}) for n in ("first", "second")]
    with run_supervisor(tmp_path, *children) as process:
        eventually((tmp_path / "started").exists, "all started")
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 0
    assert (tmp_path / "ends").read_text() == "second first "
    assert not any(map(is_alive, read_pids(tmp_path).values()))


def test_killed_child_is_restarted_and_reported(tmp_path: Path) -> None:
    with run_supervisor(tmp_path, ("one", SLEEPS, {}), ("two", SLEEPS, {})) as process:
        eventually((tmp_path / "started").exists, "all started")
        before = read_pids(tmp_path)
        os.kill(before["one"], signal.SIGKILL)
        eventually(lambda: read_pids(tmp_path).get("one") not in (None, before["one"]), "another process")
        assert read_pids(tmp_path)["two"] == before["two"]
        assert process.stderr is not None
        assert process.stderr.readline() == "leaseq: one was killed by signal 9; starting it again in 0.5 s\n"


def test_restart_delay_doubles_for_repeatedly_failing_child(tmp_path: Path) -> None:
    with run_supervisor(tmp_path, ("bad", "import sys; sys.exit(3)", {})) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(2)]
    assert lines == [
        "leaseq: bad ended with exit code 3; starting it again in 0.5 s\n",
        "leaseq: bad ended with exit code 3; starting it again in 1 s\n",
    ]
    assert int((tmp_path / "waits").read_text()) < 100, "the supervisor sleeps in between"


def test_restart_delay_is_reset_after_stable_run(tmp_path: Path) -> None:
    """Here, any positive running time counts as long."""
    with run_supervisor(tmp_path, ("bad", "import sys; sys.exit(3)", {}), steady=0) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(2)]
    assert lines == ["leaseq: bad ended with exit code 3; starting it again in 0.5 s\n"] * 2


def test_child_exit_before_ready_stops_all_children(tmp_path: Path) -> None:
    good: tuple[str, str, dict[str, str]] = ("good", SLEEPS, {})
    bad = ("bad", "import sys; sys.exit(3)", {"ready": "never"})
    with run_supervisor(tmp_path, good, bad) as process:
        _, stderr = process.communicate(timeout=TIMEOUT)
    assert stderr == "bad ended with exit code 3 before it was ready\n"
    assert not any(map(is_alive, read_pids(tmp_path).values()))


def test_sigterm_during_start_stops_children(tmp_path: Path) -> None:
    with run_supervisor(tmp_path, ("slow", SLEEPS, {"ready": "never"})) as process:
        eventually((tmp_path / "pids").exists, "the child runs")
        process.terminate()
        assert process.wait(TIMEOUT) == 0
    assert not any(map(is_alive, read_pids(tmp_path).values()))


def test_child_that_ignores_sigterm_is_killed_with_its_descendants(tmp_path: Path) -> None:
    with run_supervisor(
        tmp_path, ("stubborn", IGNORES_SIGTERM, {"grace": 0.2, "ready": "grandchild"})
    ) as process:
        eventually((tmp_path / "started").exists, "all started")
        process.terminate()
        assert process.wait(TIMEOUT) == 0
    grandchild = int((tmp_path / "grandchild").read_text())
    eventually(lambda: not is_alive(grandchild), "killed process has ended")  # its parent did not wait for it
    assert not any(map(is_alive, read_pids(tmp_path).values()))


def grandchild_pids(folder: Path) -> list[int]:
    """Return the pids of the processes that children started, in order."""
    file = folder / "left"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


@pytest.mark.parametrize("handler", ["polite", "signal.SIG_IGN"])
def test_orphans_of_killed_child_are_stopped(tmp_path: Path, handler: str) -> None:
    """It could occupy a port, for instance, that the next child needs."""
    script = LEAVES_A_PROCESS.replace("{handler}", handler) + "time.sleep(600)"
    with run_supervisor(tmp_path, ("one", script, {})):
        eventually(lambda: len(grandchild_pids(tmp_path)) == 1, "the child has started a process")
        os.kill(read_pids(tmp_path)["one"], signal.SIGKILL)
        eventually(lambda: not is_alive(grandchild_pids(tmp_path)[0]), "that process has ended")
        eventually(lambda: len(grandchild_pids(tmp_path)) == 2, "another child runs")
        assert is_alive(grandchild_pids(tmp_path)[1])
        assert (tmp_path / "good-bye").exists() == (handler == "polite"), "it gets SIGTERM first"
    eventually(lambda: not any(map(is_alive, grandchild_pids(tmp_path))), "all have ended")


def test_orphans_of_child_that_was_never_ready_are_stopped(tmp_path: Path) -> None:
    script = LEAVES_A_PROCESS.replace("{handler}", "signal.SIG_IGN") + "sys.exit(3)"
    with run_supervisor(tmp_path, ("bad", script, {"ready": "never"})) as process:
        _, stderr = process.communicate(timeout=TIMEOUT)
    assert stderr == "bad ended with exit code 3 before it was ready\n"
    eventually(lambda: not any(map(is_alive, grandchild_pids(tmp_path))), "it has ended")


@pytest.mark.parametrize("handler", ["polite", "signal.SIG_IGN"])
def test_orphans_are_stopped_if_supervisor_stops_before_restart(tmp_path: Path, handler: str) -> None:
    script = LEAVES_A_PROCESS.replace("{handler}", handler) + "sys.exit(3)"
    with run_supervisor(tmp_path, ("bad", script, {})) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("leaseq: bad ended with exit code 3")
        process.terminate()
        assert process.wait(TIMEOUT) == 0
    eventually(lambda: not any(map(is_alive, grandchild_pids(tmp_path))), "it has ended")


def test_child_inherits_environment_but_only_given_leaseq_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", "k3y-" * 10)
    monkeypatch.setenv("OTHER_THING", "1")
    settings = {"LEASEQ_REDIS_URL": "unix:///none"}
    with run_supervisor(tmp_path, ("one", WRITES_ITS_SETTINGS, {"ready": "settings", "settings": settings})):
        eventually((tmp_path / "settings").exists, "the settings were passed on")
    assert (tmp_path / "settings").read_text() == "LEASEQ_REDIS_URL OTHER_THING"


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="platform: only Linux ends children with their parent"
)
def test_children_end_when_supervisor_is_killed(tmp_path: Path) -> None:
    with run_supervisor(tmp_path, ("one", SLEEPS, {}), ("two", SLEEPS, {})) as process:
        eventually((tmp_path / "started").exists, "all started")
        process.kill()
        process.wait(TIMEOUT)
        eventually(lambda: not any(map(is_alive, read_pids(tmp_path).values())), "the children ended")
