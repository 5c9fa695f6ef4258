"""``leaseq ask``: a question from a shell."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

import leaseq
from tests.cli.conftest import Call, Spawn
from tests.support.bad_questions import IMPOSSIBLE_FORM
from tests.support.leases import take
from tests.support.waiting import TIMEOUT, eventually

FORM = {"ask": {"type": "object", "required": ["refund"], "properties": {"refund": {"enum": ["yes", "no"]}}}}


def test_stopped_question_stays_open_and_its_answer_is_printed_later(
    spawn: Spawn, call: Call, new_queue: leaseq.Queue, worker: str, tmp_path: Path
) -> None:
    form = tmp_path / "form.json"
    form.write_text(json.dumps(FORM))
    words = ["ask", new_queue.name, "--payload", '"Refund 80?"', "--form", str(form), "--by", "bot"]
    words += ["--id", "one 1", "--to", worker, "--skill", "fr", "--priority", "5", "--timeout", "60"]
    process = spawn(*words)
    eventually(lambda: new_queue.stats().inbound == 1)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, stdout) == (4, b"")
    assert f"leaseq ask {new_queue.name} --wait-for 'one 1'".encode() in stderr
    lease = take(new_queue, worker, "fr")
    item = new_queue.get("one 1")
    assert (lease.payload, lease.form, item.asked_by, item.priority) == ("Refund 80?", FORM, "bot", 5)
    assert item.requires == ("fr",)
    new_queue.finish(lease, {"refund": "yes"})
    for repeated in (words, ["ask", new_queue.name, "--wait-for", "one 1"]):
        result = call(*repeated)
        assert (result.exit_code, json.loads(result.stdout)) == (0, {"refund": "yes"})


def test_form_that_nobody_can_answer_is_refused(call: Call, new_queue: leaseq.Queue, tmp_path: Path) -> None:
    form = tmp_path / "form.json"
    for text in ("{", "7", json.dumps(IMPOSSIBLE_FORM)):
        form.write_text(text)
        result = call("ask", new_queue.name, "--form", str(form), "--wait", "0", input=b"1")
        assert (result.exit_code, result.stdout, new_queue.stats().inbound) == (2, "", 0), text


def test_file_and_pipe(call: Call, new_queue: leaseq.Queue, tmp_path: Path) -> None:
    file = tmp_path / "payload.json"
    file.write_text('{"text": "é"}')
    options = ["--wait", "0", "--id"]
    assert call("ask", new_queue.name, str(file), *options, "file").exit_code == 4
    assert call("ask", new_queue.name, *options, "pipe", input=b'["x"]').exit_code == 4
    assert [new_queue.get(id).payload for id in ("file", "pipe")] == [{"text": "é"}, ["x"]]


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        (["--id", "cancelled"], 3),
        (["--wait-for", "cancelled"], 3),
        (["--timeout", "0.05"], 3),
        (["--id", "cancelled", "--payload", "2"], 2),  # another question
        (["--payload", "{"], 2),
        *[(["--timeout", value], 2) for value in ("0", "-1", "nan", "inf", "1e12", "soon")],
        *[(["--wait", value], 2) for value in ("-1", "nan", "3601")],
        *[([option, ""], 2) for option in ("--id", "--to", "--by")],
        (["--skill", "a,b"], 2),
        (["--form", "no such file"], 2),
        (["--to", "nobody of this name"], 2),
        (["--wait-for", "missing"], 1),
    ],
)
@pytest.mark.usefixtures("worker")
def test_exit_codes_without_an_answer(
    call: Call, new_queue: leaseq.Queue, words: list[str], exit_code: int
) -> None:
    with pytest.raises(leaseq.StillWaiting):
        new_queue.ask(1, id="cancelled", wait=0)
    new_queue.cancel("cancelled")
    result = call("ask", new_queue.name, *words, input=b"1")
    assert (result.exit_code, result.stdout) == (exit_code, "")
    result = call("ask", new_queue.name, *words, "--default", "null", input=b"1")
    assert (result.exit_code, result.stdout) == ((0, "null\n") if exit_code == 3 else (exit_code, ""))
