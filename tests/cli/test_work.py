"""``leaseq work``: run a function on a queue's items from the command line."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import leaseq
from tests.cli.conftest import Call
from tests.conftest import Server
from tests.support.processes import LEASEQ
from tests.support.waiting import TIMEOUT, eventually

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_example_function_works_until_sigterm(server: Server, queue: leaseq.Queue) -> None:
    queue.enqueue_many({"text": text} for text in ("Where is my PARCEL?", "My password", "Hello"))
    process = subprocess.Popen(
        [sys.executable, "-m", "leaseq", "work", queue.name, "prelabel:handle", "--person", "prelabel-bot"],
        cwd=EXAMPLES,
        env={**os.environ, "LEASEQ_REDIS_URL": server.url},
        stderr=subprocess.PIPE,
        text=True,
    )
    eventually(lambda: queue.stats().finished == 3 or process.poll() is not None, "all are finished")
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert "3 finished, 0 failed, 0 given back" in stderr
    assert [answer.result["label"] for answer in queue.answers()] == ["delivery", "account", "other"]
    assert {answer.person for answer in queue.answers()} == {"prelabel-bot"}


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("handle", "is not MODULE:FUNCTION"),
        ("no_such_module:handle", "no module 'no_such_module'"),
        ("json:no_such_function", "has no function 'no_such_function'"),
    ],
)
def test_missing_function_is_refused(call: Call, queue: leaseq.Queue, function: str, message: str) -> None:
    queue.configure()
    result = call("work", queue.name, function)
    assert result.exit_code == 2
    assert message in result.stderr


def test_unknown_queue_exits_1(call: Call, queue: leaseq.Queue) -> None:
    result = call("work", queue.name, "json:dumps")
    assert result.exit_code == 1
    assert queue.name in result.stderr


def test_module_with_import_error_is_refused(
    call: Call, queue: leaseq.Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_for_work.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    queue.configure()
    result = call("work", queue.name, "broken_for_work:handle")
    assert result.exit_code == 2
    assert (
        result.stderr == "leaseq: 'broken_for_work' can't be imported: ZeroDivisionError: division by zero\n"
    )


def test_unavailable_server_at_start_exits_1(call: Call, tmp_path: Path) -> None:
    result = call("work", "reviews", "json:dumps", "--redis", f"unix://{tmp_path}/nothing.sock")
    assert result.exit_code == 1
    assert "no answer from" in result.stderr


def test_function_imports_modules_of_working_directory_at_run_time(
    server: Server, queue: leaseq.Queue, tmp_path: Path
) -> None:
    """Run the installed command on a terminal. Unlike ``python -m``, it does not search the working directory
    by default."""
    (tmp_path / "lazily.py").write_text("def handle(_):\n    import of_here\n    return of_here.ANSWER\n")
    (tmp_path / "of_here.py").write_text("ANSWER = 42\n")
    queue.enqueue({}, max_attempts=1)
    screen, terminal = pty.openpty()
    words = [str(LEASEQ), "work", queue.name, "lazily:handle"]
    environment = {**os.environ, "LEASEQ_REDIS_URL": server.url, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=terminal) as process:
        os.close(terminal)
        output = b""
        while b"1 finished, 0 failed," not in output:
            output += os.read(screen, 4_096)  # raises if the process has ended
        process.terminate()
        with suppress(OSError):  # Linux raises it when no process has the terminal open any longer
            while data := os.read(screen, 4_096):
                output += data
    os.close(screen)
    assert process.returncode == 0
    assert b" per second" in output
    assert b"1 finished, 0 failed, 0 given back" in output
    assert next(queue.answers()).result == 42


WORK_TOML = (
    (Path(__file__).parents[2] / "docs" / "command-line.md").read_text().split("```toml\n")[1].split("```")[0]
)


def test_config_file_of_docs_works_on_all_its_queues(server: Server, queue_name: str, tmp_path: Path) -> None:
    names = {name: f"{queue_name}.{name}" for name in ("urgent", "reviews.de", "mail")}
    text = WORK_TOML.replace("urgent =", f'"{names["urgent"]}" =').replace(
        "queues.mail", f'queues."{names["mail"]}"'
    )
    (tmp_path / "work.toml").write_text(text.replace("reviews.de", names["reviews.de"]))
    urgent, reviews, mail = queues = [leaseq.Queue(server.client, name) for name in names.values()]
    urgent.enqueue({"text": "My parcel"})
    reviews.enqueue({"no": "text"}, id="bad")
    mail.enqueue_many([{"kind": "praise", "text": "Hello"}, {"kind": "spam"}])
    config = str(tmp_path / "work.toml")
    process = subprocess.Popen(
        [sys.executable, "-m", "leaseq", "work", "--config", config, "--grace", "9"],
        cwd=EXAMPLES,
        env={**os.environ, "LEASEQ_REDIS_URL": server.url},
        stderr=subprocess.PIPE,
        text=True,
    )

    def are_done() -> bool:
        return [queue.stats().finished + queue.stats().dead for queue in queues] == [1, 1, 1]

    eventually(lambda: are_done() or process.poll() is not None, "worked")
    eventually(lambda: mail.stats().scheduled == 1 or process.poll() is not None, "failed for now")
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0, stderr
    assert f"office-bot works on {', '.join(names.values())}." in stderr
    assert "2 finished, 2 failed, 0 given back" in stderr
    assert reviews.get("bad").state == "dead"
    assert next(urgent.answers()).person == "office-bot"


QUEUE = 'a "module:function", or a table with function, or with by and handlers, and with retry'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("queues = ", "not TOML: Invalid value (at end of document)"),
        (b"\xff", "not UTF-8 text (byte 0)"),
        ("", f"queues: required: a table with a key for each queue, whose value is {QUEUE}"),
        ("queues = 5", "queues: required"),
        ("[queues]", "queues: required"),
        (
            "threads = 5",
            "threads: unknown key; allowed are queues, person, concurrency, order, skills, grace",
        ),
        ("[queues]\nq = 5", f"queues.q: must be {QUEUE}"),
        ("[queues]\nq = {}", f"queues.q: must be {QUEUE}; this has nothing"),
        (
            "[queues]\nq.de = 'json:dumps'",
            "q.de: unknown key; allowed are function, by, handlers, retry;",
        ),
        ("[queues]\nq.de = 'json:dumps'", "a queue's name that has a dot needs quotes"),
        ("[queues.q]\nfunction = 'json:dumps'\nby = 'kind'", "this has function, by"),
        ("[queues.q]\nby = 'kind'", "this has by"),
        ("[queues.q]\nfunction = 'json:dumps'\nhandlers = {}", "this has function, handlers"),
        ("[queues.q]\nby = 5\nhandlers = {a = 'json:dumps'}", "queues.q.by: must be the name of a field"),
        ("[queues.q]\nby = 'kind'\nhandlers = {}", "queues.q.handlers: must be a table with a"),
        ("[queues.q]\nby = 'kind'\nhandlers = {a = 5}", 'queues.q.handlers.a: must be a "module:function"'),
        (
            "[queues.q]\nby = 'kind'\nhandlers = {a = 'json:no'}",
            "queues.q.handlers.a: 'json' has no function 'no'",
        ),
        ("[queues]\nq = 'dumps'", "queues.q.function: 'dumps' is not MODULE:FUNCTION"),
        ("[queues]\nq = 'no_such:dumps'", "queues.q.function: no module 'no_such'"),
        (
            "[queues]\nq = {function = 'json:dumps', retry = 'no'}",
            "queues.q.retry: must be true or false; this is 'no'",
        ),
        (
            "[queues]\nq = {function = 'json:dumps', retry = 0}",
            "queues.q.retry: must be true or false; this is 0",
        ),
        (
            "concurency = 5",
            "concurency: unknown key; allowed are queues, person, concurrency, order, skills, ",
        ),
        ("concurency = 5", "; did you mean concurrency?"),
        (
            "[queues]\nq = 'json:dumps'\nconcurrency = 4",
            "queues.concurrency: a key of the file, which belongs before [queues]; a queue's value is a",
        ),
        ("concurrency = 0\n[queues]\nq = 'json:dumps'", "concurrency: expected a whole number from 1 to 256"),
        ("order = 'random'\n[queues]\nq = 'json:dumps'", "order: expected one of turn, strict"),
        ("person = 5\n[queues]\nq = 'json:dumps'", "person: expected 1 to 64 printable characters"),
        ("skills = 'fr'\n[queues]\nq = 'json:dumps'", "skills: expected a list of skills"),
        ("grace = -1\n[queues]\nq = 'json:dumps'", "grace: expected a number from 0 to 86,400"),
    ],
)
def test_invalid_config_file_is_refused_with_reason(
    call: Call, queue: leaseq.Queue, tmp_path: Path, text: str | bytes, message: str
) -> None:
    queue.configure()
    file = tmp_path / "work.toml"
    raw = text if isinstance(text, bytes) else text.replace("\nq = ", f"\n'{queue.name}' = ").encode()
    file.write_bytes(raw)
    result = call("work", "--config", str(file))
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(f"leaseq: {file}: ")
    assert message in result.stderr.replace(queue.name, "q")


def test_work_requires_either_queue_or_config_file(call: Call, tmp_path: Path) -> None:
    no_queue_result = call("work")
    assert (no_queue_result.exit_code, "or a file with --config FILE" in no_queue_result.stderr) == (2, True)
    two_sources_result = call("work", "reviews", "json:dumps", "--config", str(tmp_path / "work.toml"))
    assert (two_sources_result.exit_code, "leave out QUEUE" in two_sources_result.stderr) == (2, True)
    no_file_result = call("work", "--config", str(tmp_path / "work.toml"))
    assert (no_file_result.exit_code, no_file_result.stderr) == (
        2,
        f"leaseq: {tmp_path}/work.toml: No such file or directory\n",
    )
