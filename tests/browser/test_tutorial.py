"""docs/tutorial.md: its commands, programs and steps on the page do what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import PASSWORD, TIMEOUT_MS
from tests.support.ports import free_port
from tests.support.processes import LEASEQ, UpProcess, environment
from tests.support.waiting import TIMEOUT

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text()
FILES = re.compile(r"Save this as `([\w.]+)`.*?^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)
BEFORE_UP = ["python3 -m venv .venv && . .venv/bin/activate", "pip install 'leaseq[web]'"]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[UpProcess]:
    run = UpProcess(tmp_path / "leaseq-data", free_port(), "--workers", "1")
    yield run
    run.stop()


def run_commands(text: str, folder: Path) -> None:
    """Run the commands of a part of the page in a folder, and compare what they print with what it shows."""
    for name, content in FILES.findall(text):
        (folder / name).write_text(content)
    path = f"{LEASEQ.parent}{os.pathsep}{os.environ['PATH']}"
    for command, shown in COMMANDS.findall(text):
        completed = subprocess.run(
            ["sh", "-c", f"{command} 2>&1"],
            cwd=folder,
            env=environment(PATH=path),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert completed.returncode == 0, (command, completed.stdout)
        assert shown in (completed.stdout, ""), command


def test_tutorial_leads_from_nothing_to_a_worked_queue(
    up: UpProcess, chromium: Browser, tmp_path: Path
) -> None:
    _, start, queue, items, page, program, late, answers, _ = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    *commands, (up_command, first_line) = COMMANDS.findall(start)
    assert [command for command, _ in commands] == BEFORE_UP
    assert (up_command, first_line.strip().rpartition(":")[0]) == (
        "leaseq up",
        up.lines[0].rpartition(":")[0],
    )
    run_commands(queue, tmp_path)
    run_commands(items, tmp_path)
    (address,) = re.findall(r"<http://127\.0\.0\.1:8000(/q/\w+)>", page)
    with chromium.new_context(base_url=f"http://127.0.0.1:{up.port}") as context:
        context.set_default_timeout(TIMEOUT_MS)
        tab = context.new_page()
        tab.goto(re.findall(r"http://\S+/setup\?token=\S+", "\n".join(up.lines))[0])
        tab.get_by_label("Name").fill("alice")
        for field in tab.locator("input[type=password]").all():
            field.fill(PASSWORD)
        tab.locator("main button").click()
        tab.goto(address)
        tab.get_by_role("button", name="Next item").click()
        expect(tab.get_by_text("My parcel says delivered")).to_be_visible()
        tab.wait_for_load_state()  # until the page listens to keys
        tab.keyboard.press("1")
        expect(tab.get_by_text("I want my money back")).to_be_visible()
        tab.keyboard.press("l")
        expect(tab.get_by_text("Where is my order")).to_be_visible()
        tab.get_by_label("delivery").check()
        tab.get_by_role("button", name="Finish and stop").click()
        expect(tab).to_have_url(re.compile(r":\d+/$"))
        run_commands(program, tmp_path)
        stats = subprocess.run(
            [LEASEQ, "stats", "triage", "--json"],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            check=True,
        )
        (counts,) = json.loads(stats.stdout)["queues"]
        assert (counts["finished"], counts["inbound"]) == (4, 1)
        run_commands(late, tmp_path)
        (item_address,) = re.findall(r"<http://127\.0\.0\.1:8000(/manage/\S+)>", late)
        tab.goto(item_address)
        expect(tab.get_by_text("A late answer from ann was kept")).to_be_visible()
        run_commands(answers, tmp_path)
        assert len((tmp_path / "answers.csv").read_text().splitlines()) == 6
