"""Questions: a program adds an item and gets its answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Server
from tests.support.bad_questions import BAD_QUESTIONS
from tests.support.waiting import eventually

FORM = {"ask": {"type": "object", "properties": {"refund": {"enum": ["yes", "no"]}}, "required": ["refund"]}}
OTHER_FORM = {"ask": {"type": "object", "properties": {"other": {"type": "string"}}}}
YES = {"refund": "yes"}

Ask = Callable[..., "Future[leaseq.Answered]"]


@pytest.fixture
def ask(server: Server, queue: leaseq.Queue) -> Iterator[Ask]:
    """Return a function that asks in a thread, with a client of its own, and returns when the question is
    there and its asker listens."""
    with ThreadPoolExecutor(20) as pool, leaseq.connect(server.url) as client:
        asking = leaseq.Queue(client, queue.name)

        def begin(id: str, call: str = "ask", **options: Any) -> Future[leaseq.Answered]:
            before = listeners(server, queue)
            if call == "ask":
                future = pool.submit(
                    asking.ask, "Refund 100?", id=id, **{"form": FORM, "timeout": 60, **options}
                )
            else:
                future = pool.submit(asking.wait_for, id, **{"timeout": 60, **options})
            eventually(
                lambda: (
                    future.done()
                    or (listeners(server, queue) >= max(before, 1) and is_marked(server, queue, id))
                )
            )
            return future

        yield begin


def listeners(server: Server, queue: leaseq.Queue) -> int:
    ((_, count),) = server.redis.pubsub_numsub(Keys(queue.name).ended)
    return int(count)


def is_marked(server: Server, queue: leaseq.Queue, id: str) -> bool:
    record = server.redis.hget(Keys(queue.name).items, id)
    return record is not None and b" q" in record.partition(b"\n")[0]


def take(queue: leaseq.Queue, person: str = "ann") -> leaseq.Lease:
    lease = queue.reserve(person)
    assert lease is not None
    return lease


@pytest.fixture
def no_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only messages end a wait: a waiting call looks by itself after a minute."""
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (60, 60))
    monkeypatch.setattr("leaseq.queue.asking._POLL_SECONDS", 60)


@pytest.mark.usefixtures("no_polling")
def test_answer_reaches_all_who_wait(queue: leaseq.Queue, ask: Ask) -> None:
    futures = [ask("one"), ask("one"), ask("one", "wait_for")]
    other = ask("other")
    queue.finish(take(queue), YES)
    for future in futures:
        answered = future.result(10)
        assert (answered.id, answered.result, answered.how, answered.late) == ("one", YES, "single", False)
        assert [answer.person for answer in answered.answers] == ["ann"]
    assert not other.done()
    queue.cancel("other")
    with pytest.raises(leaseq.NotAnswered):
        other.result(10)


@pytest.mark.usefixtures("no_polling")
@pytest.mark.parametrize("way", ["correct", "adopt", "revive", "lower", "late"])
def test_each_way_to_an_answer_reaches_asker(queue: leaseq.Queue, ask: Ask, way: str) -> None:
    queue.configure(answers=2 if way == "lower" else 1, max_attempts=1)
    future = ask("one")
    lease = take(queue)
    if way == "correct":
        queue.finish(lease, {"refund": "no"})
        queue.correct("one", lease.token, YES, by="meg")
        future = ask("one", "wait_for")
    elif way == "adopt":
        queue.release("one")
        take(queue, "bob")
        with pytest.raises(leaseq.LeaseLost):
            queue.finish(lease, YES)
        queue.adopt("one", lease.token)
    elif way == "revive":
        queue.fail(lease, "torn")
        with pytest.raises(leaseq.NotAnswered) as error:
            future.result(10)
        assert error.value.reason == "dead"
        queue.revive("one")
        future = ask("one", "wait_for")
        queue.finish(take(queue, "bob"), YES)
    elif way == "lower":
        queue.finish(lease, YES)
        assert not future.done()
        queue.change("one", answers=1)
    else:
        queue.finish(lease, YES, then_reserve=True)
    assert future.result(10).result == YES


def test_answer_that_the_asker_was_told_is_not_undone(queue: leaseq.Queue, ask: Ask) -> None:
    queue.configure(answers=2)
    future = ask("one")
    first, second = take(queue), take(queue, "bob")
    queue.finish(first, {"refund": "no"})
    first = queue.undo_finish(first)
    queue.finish(first, YES)
    queue.finish(second, YES)
    assert future.result(10).result == YES
    for lease in (first, second):
        with pytest.raises(leaseq.Invalid) as refused:
            queue.undo_finish(lease)
        assert (refused.value.field, refused.value.rule) == ("undo", "undo_told")
    assert queue.get("one").state == "finished"


@pytest.mark.usefixtures("no_polling")
@pytest.mark.parametrize("held", [False, True])
def test_item_that_nobody_asked_for_can_be_waited_for(queue: leaseq.Queue, ask: Ask, held: bool) -> None:
    queue.enqueue("x", id="one")
    lease = take(queue) if held else None
    future = ask("one", "wait_for")
    queue.finish(lease or take(queue), "yes")
    assert future.result(10).result == "yes"


def test_repeated_question_gets_answer_that_came_meanwhile(queue: leaseq.Queue) -> None:
    with pytest.raises(leaseq.StillWaiting) as waiting:
        queue.ask("Refund?", id="one", form=FORM, timeout=60, wait=0)
    assert waiting.value.id == "one"
    queue.finish(take(queue), YES)
    for _ in range(2):
        assert queue.ask("Refund?", id="one", form=FORM, timeout=60).result == YES
    assert queue.wait_for("one", timeout=0).result == YES
    assert queue.stats().counters["enqueued"] == 1


@pytest.mark.parametrize(
    "other", [{"payload": "Refunds?"}, {"form": None}, {"form": OTHER_FORM}, {"form": {}}], ids=str
)
def test_id_with_other_content_is_refused(queue: leaseq.Queue, other: dict[str, Any]) -> None:
    question: dict[str, Any] = {"payload": {"a": 1, "b": [2.0]}, "form": FORM}
    with pytest.raises(leaseq.StillWaiting):
        queue.ask(**question, id="one", wait=0)
    with pytest.raises(leaseq.StillWaiting):
        queue.ask({"b": [2], "a": 1}, form=FORM, id="one", wait=0)
    with pytest.raises(leaseq.Invalid) as refusal:
        queue.ask(**{**question, **other}, id="one", wait=0)
    assert (refusal.value.field, refusal.value.rule) == ("id", "question")


def test_duplicate_with_another_form_is_refused(queue: leaseq.Queue) -> None:
    queue.configure(dedupe_seconds=60)
    for id in ("one", "two"):
        with pytest.raises(leaseq.StillWaiting) as waiting:
            queue.ask("Refund?", id=id, form=FORM, wait=0)
        assert waiting.value.id == "one"
    with pytest.raises(leaseq.Invalid):
        queue.ask("Refund?", form=OTHER_FORM, wait=0)


def test_nobody_answers_in_time(queue: leaseq.Queue) -> None:
    with pytest.raises(leaseq.NotAnswered) as unanswered:
        queue.ask("Refund?", id="one", timeout=0.01)
    assert (unanswered.value.id, unanswered.value.reason) == ("one", "expired")
    answered = queue.ask("Refund?", id="one", timeout=0.01, default={"refund": "no"})
    assert (answered.result, answered.answers, answered.how) == ({"refund": "no"}, (), "default")
    assert queue.reserve("ann") is None
    assert queue.get("one").died_of == "expired"


def test_late_answer_is_found_later(timed_queue: leaseq.Queue, clock: Any) -> None:
    with pytest.raises(leaseq.StillWaiting):
        timed_queue.ask("Refund?", id="one", timeout=10, wait=0)
    lease = take(timed_queue)
    clock.tick(11)
    timed_queue.clear()
    timed_queue.finish(lease, "yes")
    answered = timed_queue.wait_for("one")
    assert (answered.result, answered.late) == ("yes", True)
    item = timed_queue.get("one")
    assert item.expires is not None
    assert answered.answers[0].finished_at - item.expires < timedelta(seconds=2)


@pytest.mark.usefixtures("no_polling")
@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (lambda q: q.cancel("one", "solved"), "cancelled"),
        (lambda q: q.remove("one"), "cancelled"),
        (lambda q: q.fail(take(q), "?", retry=False), "dead"),
        (lambda q: (q.configure(max_abandons=1), q.abandon(take(q), again=False)), "dead"),
    ],
)
def test_end_without_answer_reaches_asker(
    queue: leaseq.Queue, ask: Ask, end: Callable[[leaseq.Queue], object], reason: str
) -> None:
    future = ask("one")
    end(queue)
    with pytest.raises(leaseq.NotAnswered) as error:
        future.result(10)
    assert error.value.reason == reason
    assert ask("two", default="no").done() is False
    queue.cancel("two")


def test_several_answers_come_together(queue: leaseq.Queue, ask: Ask) -> None:
    queue.configure(answers=3)
    future = ask("one")
    for person, refund in {"ann": "yes", "bob": "no", "cyd": "no"}.items():
        assert not future.done()
        queue.finish(take(queue, person), {"refund": refund})
    answered = future.result(10)
    assert (answered.result, answered.how) == (YES, "undecided"), "the first one's: nothing has decided"
    assert [answer.person for answer in answered.answers] == ["ann", "bob", "cyd"]


def test_partial_answers_are_told(queue: leaseq.Queue) -> None:
    queue.configure(answers=2)
    with pytest.raises(leaseq.StillWaiting):
        queue.ask("Refund?", id="one", wait=0)
    queue.finish(take(queue), "yes")
    queue.cancel("one")
    with pytest.raises(leaseq.NotAnswered) as error:
        queue.wait_for("one")
    assert [answer.result for answer in error.value.answers] == ["yes"]


def test_question_of_abandoned_item_goes_to_the_next_person(queue: leaseq.Queue, ask: Ask) -> None:
    future = ask("one")
    for person in ("ann", "bob"):
        queue.abandon(take(queue, person), again=False)
    queue.finish(take(queue, "cyd"), YES)
    assert future.result(10).answers[0].person == "cyd"


@pytest.mark.usefixtures("no_polling")
def test_scripts_forgotten_by_the_server_lose_no_answer(
    server: Server, queue: leaseq.Queue, ask: Ask
) -> None:
    server.redis.script_flush()
    future = ask("one")
    server.redis.script_flush()
    lease = take(queue)
    server.redis.script_flush()
    queue.finish(lease, YES)
    assert future.result(10).result == YES


def test_lost_message_costs_two_seconds_at_most(
    queue: leaseq.Queue, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.engine.notifications.Channel.wake", lambda *_: None)
    future = ask("one")
    queue.finish(take(queue), YES)
    assert future.result(10).result == YES


@pytest.mark.usefixtures("no_polling")
def test_answer_of_another_question_with_the_id_is_not_returned(
    server: Server, queue: leaseq.Queue, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    future = ask("one")
    with monkeypatch.context() as patch:
        patch.setattr("leaseq.engine.notifications.Channel.wake", lambda *_: None)
        queue.remove("one")
        with pytest.raises(leaseq.StillWaiting):
            queue.ask("Delete all?", id="one", wait=0)
        queue.finish(take(queue), "yes")
    server.redis.publish(Keys(queue.name).ended, "one")
    with pytest.raises(leaseq.NotAnswered) as error:
        future.result(10)
    assert error.value.reason == "cancelled"


def test_closing_the_client_ends_the_wait(server: Server, queue: leaseq.Queue) -> None:
    client = leaseq.connect(server.url)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(leaseq.Queue(client, queue.name).ask, "x", id="one", timeout=60)
        eventually(lambda: listeners(server, queue) == 1 and is_marked(server, queue, "one"))
        client.close()
        with pytest.raises(leaseq.Invalid):
            future.result(10)


def test_deleted_queue_ends_the_wait(queue: leaseq.Queue, ask: Ask) -> None:
    future = ask("one")
    queue.delete()
    with pytest.raises(leaseq.QueueNotFound):
        future.result(10)


def test_thousand_threads_of_a_program_get_their_answers(server: Server, queue: leaseq.Queue) -> None:
    queue.configure(holds=10)
    with leaseq.connect(server.url) as client, ThreadPoolExecutor(1_000) as pool:
        asking = leaseq.Queue(client, queue.name)
        futures = [pool.submit(asking.ask, n, id=str(n), timeout=300) for n in range(1_000)]
        eventually(lambda: queue.stats().inbound == 1_000, seconds=60)
        while (lease := queue.reserve("ann")) is not None:
            queue.finish(lease, lease.payload)
        for n, future in enumerate(futures):
            assert future.result(60).result == n


def test_bad_input_is_refused_before_anything_changes(queue: leaseq.Queue) -> None:
    bad: list[tuple[dict[str, Any], str]] = [*BAD_QUESTIONS, ({"default": {1, 2}}, "default")]
    for options, field in bad:
        with pytest.raises(leaseq.Invalid) as refusal:
            queue.ask("Refund?", **{"wait": 0, **options})
        assert refusal.value.field == field, options
    assert not queue.exists()


@pytest.mark.parametrize("timeout", [-1, "1", None, float("nan"), True])
def test_bad_timeout_of_wait_is_refused(queue: leaseq.Queue, timeout: Any) -> None:
    queue.enqueue("x", id="one")
    with pytest.raises(leaseq.Invalid) as refusal:
        queue.wait_for("one", timeout)
    assert refusal.value.field == "timeout"
    with pytest.raises(leaseq.ItemNotFound):
        queue.wait_for("other", 1)


def test_question_nobody_asked_about_publishes_nothing(server: Server, queue: leaseq.Queue) -> None:
    channel = Keys(queue.name).ended
    with server.pubsub(channel) as pubsub:
        pubsub.subscribe(channel)
        queue.enqueue("x", id="plain", expires=60, form=FORM)
        queue.finish(take(queue), YES)
        queue.enqueue("x", id="cancelled")
        queue.cancel("cancelled")
        pubsub.ping()
        seen: list[Any] = []
        while not seen or seen[-1]["type"] != "pong":
            seen += [message] if (message := pubsub.get_message(timeout=5)) else []
        assert [message["type"] for message in seen] == ["subscribe", "pong"]


def test_question_is_of_who_asked_it(queue: leaseq.Queue) -> None:
    with pytest.raises(leaseq.StillWaiting):
        queue.ask("x", id="one", wait=0, by="refund bot")
    assert queue.get("one").asked_by == "refund bot"
    for by, is_same in {"refund bot": True, None: True, "other": False}.items():
        with pytest.raises(leaseq.StillWaiting if is_same else leaseq.Invalid):
            queue.ask("x", id="one", wait=0, by=by)
    queue.enqueue("x", id="two")
    assert queue.get("two").asked_by is None
    with pytest.raises(leaseq.Invalid):
        queue.ask("x", id="two", wait=0, by="refund bot")


def test_stop_ends_the_wait(queue: leaseq.Queue) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(queue.ask, "x", id="one", timeout=60, stop=stop)]
        eventually(lambda: queue.exists() and queue.stats().inbound == 1)
        futures.append(pool.submit(queue.wait_for, "one", 60, stop=stop))
        stop.set()
        for future in futures:
            with pytest.raises(leaseq.StillWaiting):
                future.result(10)


def test_erased_person_no_longer_asked(queue: leaseq.Queue) -> None:
    queue.configure(answers=2)
    with pytest.raises(leaseq.StillWaiting):
        queue.ask("x", id="one", wait=0, by="ann lee")
    queue.finish(take(queue, "bob"), "yes")
    assert queue.erase_person("ann lee", "nobody 1").items == 1
    assert queue.get("one").asked_by == "nobody 1"
