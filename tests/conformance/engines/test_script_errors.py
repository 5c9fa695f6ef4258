"""An error inside a script is reported with the file and line to open, to the caller and in the log."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import leaseq
from leaseq.engine.durability import Wait
from leaseq.engine.keys import Keys
from leaseq.engine.scripts import SCRIPTS, BoundScript, read
from tests.support.refused import raises

LUA = Path(leaseq.__file__).parents[1] / "lua"
FAULTS = {
    "in Lua": "local planted = nil .. ''",
    "in a command": "redis.call('HGET', KEYS[1])",
    "raised error": "error({ err = 'PLANTED by a test' })",
    "when loaded": "local = 'no name'",
}
fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)


class PlantedFault:
    """A copy of the scripts with one faulty line inserted into one file."""

    def __init__(self, folder: Path, file: str, behind: str, fault: str) -> None:
        self.lua = folder / "lua"
        shutil.copytree(LUA, self.lua)
        self.path = self.lua / file
        lines = self.path.read_text().split("\n")
        self.line = lines.index(behind) + 2
        lines.insert(self.line - 1, fault)
        self.path.write_text("\n".join(lines))
        self.position = f"{file}:{self.line}"

    def bind(self, name: str, queue: leaseq.Queue) -> BoundScript:
        return BoundScript(read(self.lua, name, *SCRIPTS[name].keys), Keys(queue.name))

    def check_named(self, message: str, fault: str) -> None:
        """Check that the message names the position of the fault, and no other position."""
        matches = re.findall(r"[\w/]+\.lua:\d+", message)
        assert set(matches) == {self.position}, message
        file, _, line = matches[0].rpartition(":")
        assert (self.lua / file).read_text().split("\n")[int(line) - 1] == fault
        assert "user_script" not in message
        assert not re.search(r"[0-9a-f]{40}", message)


def log_message(caplog: pytest.LogCaptureFixture) -> str:
    """Return the only log message of leaseq."""
    (record,) = (one for one in caplog.records if one.name.startswith("leaseq"))
    assert record.levelno == logging.ERROR
    return record.getMessage()


def plant_in_include(folder: Path, fault: str) -> PlantedFault:
    """Plant a fault in a nested include that runs only outside the ordinary case."""
    return PlantedFault(folder, "lib/queue.lua", "function queue.open(read_only, new_status)", fault)


def pause(queue: leaseq.Queue) -> None:
    """Pause the queue, so that the ordinary case doesn't apply."""
    queue.enqueue({})
    queue.pause("for a test")


def reserve(queue: leaseq.Queue, planted_fault: PlantedFault) -> None:
    queue._commands._scripts["reserve"] = planted_fault.bind("reserve", queue)
    queue.reserve("ann")


def reserve_and_confirm(queue: leaseq.Queue, planted_fault: PlantedFault) -> None:
    wait = Wait("replica", BoundScript(SCRIPTS["confirm"], Keys(queue.name)), 500, 0)
    queue._connection.run_script(planted_fault.bind("reserve", queue), ("", "ann", "r1"), wait)


@fault
@pytest.mark.parametrize("call", [reserve, reserve_and_confirm])
def test_exception_and_log_name_line_of_script_error(
    queue: leaseq.Queue,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    fault: str,
    call: Callable[[leaseq.Queue, PlantedFault], None],
) -> None:
    pause(queue)
    planted_fault = plant_in_include(tmp_path, fault)
    with pytest.raises(leaseq.ServerRefused) as error:
        call(queue, planted_fault)
    planted_fault.check_named(str(error.value), fault)
    message = log_message(caplog)
    planted_fault.check_named(message, fault)
    assert message.startswith(f"script reserve failed at {planted_fault.position}: ")


@fault
def test_exception_and_log_name_line_of_error_in_confirm_script(
    queue: leaseq.Queue, tmp_path: Path, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    """Confirmation is a separate script, and the message must name that one."""
    queue.enqueue({})
    line_before = "local durable = redis.call('HGET', KEYS[1], 'durable')"
    planted_fault = PlantedFault(tmp_path, "confirm.lua", line_before, fault)
    wait = Wait("replica", planted_fault.bind("confirm", queue), 500, 0)
    with raises(leaseq.ServerRefused, "unconfirmed") as error:
        queue._connection.run_script(
            BoundScript(SCRIPTS["reserve"], Keys(queue.name)), ("", "ann", "r1"), wait
        )
    planted_fault.check_named(str(error.value), fault)
    message = log_message(caplog)
    planted_fault.check_named(message, fault)
    assert message.startswith(f"script confirm failed at {planted_fault.position}: ")


def test_unclosed_block_is_reported_at_its_beginning(
    queue: leaseq.Queue, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pause(queue)
    planted_fault = PlantedFault(tmp_path, "lib/waiters.lua", "local waiters = {}", "if next then")
    queue._commands._scripts["reserve"] = planted_fault.bind("reserve", queue)
    with pytest.raises(leaseq.ServerRefused) as error:
        queue.reserve("ann")
    last = f"reserve.lua:{(LUA / 'reserve.lua').read_text().count(chr(10))}"
    for message in (str(error.value), log_message(caplog)):
        assert f"{last}: 'end' expected (to close 'if' at {planted_fault.position})" in message


def test_refusal_without_a_line_is_not_logged(
    queue: leaseq.Queue, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pause(queue)
    planted_fault = plant_in_include(tmp_path, "do return redis.error_reply('PLANTED by a test') end")
    queue._commands._scripts["reserve"] = planted_fault.bind("reserve", queue)
    with raises(leaseq.ServerRefused, "server_refused", "PLANTED by a test"):
        queue.reserve("ann")
    assert not [one for one in caplog.records if one.name.startswith("leaseq")]
