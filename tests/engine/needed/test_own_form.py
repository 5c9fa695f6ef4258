"""A form of an item's own: it is asked instead of the queue's, and kept once, as long as an item has it."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Server


def choice(name: str, *values: str) -> dict[str, Any]:
    return {"ask": {"type": "object", "properties": {name: {"enum": list(values)}}, "required": [name]}}


QUEUE_FORM = choice("verdict", "ok", "spam")
OWN_FORM = choice("refund", "yes, in full", "no")


@pytest.fixture
def asking(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(form=QUEUE_FORM, holds=10)
    return queue


def stored_forms(server: Server, queue: leaseq.Queue) -> dict[bytes, bytes]:
    forms: dict[bytes, bytes] = server.redis.hgetall(Keys(queue.name).forms)
    return forms


def take(queue: leaseq.Queue, person: str = "ann") -> leaseq.Lease:
    lease = queue.reserve(person)
    assert lease is not None
    return lease


def test_lease_has_form_that_counts(asking: leaseq.Queue) -> None:
    asking.enqueue("plain", id="plain")
    asking.enqueue("own", id="own", form=OWN_FORM)
    plain, own = take(asking), take(asking)
    assert (plain.form, own.form) == (QUEUE_FORM, OWN_FORM)
    assert (asking.renew(own).form, asking.renew(plain).form) == (OWN_FORM, QUEUE_FORM)
    assert {lease.id: lease.form for lease in asking.mine("ann")} == {"plain": QUEUE_FORM, "own": OWN_FORM}
    asking.configure(form=None)
    assert {lease.id: lease.form for lease in asking.mine("ann")} == {"plain": None, "own": OWN_FORM}
    assert (asking.get("own").form, asking.get("plain").form) == (OWN_FORM, None)
    assert {item.id: item.form for item in asking.items("reserved")} == {"plain": None, "own": OWN_FORM}


def test_form_of_another_client_is_noticed(server: Server, asking: leaseq.Queue) -> None:
    asking.enqueue("plain")
    with leaseq.connect(server.url) as client:
        assert take(leaseq.Queue(client, asking.name)).form == QUEUE_FORM


def test_answer_must_fit_own_form(asking: leaseq.Queue) -> None:
    asking.enqueue("own", id="own", form=OWN_FORM)
    lease = take(asking)
    with pytest.raises(leaseq.Invalid) as refusal:
        asking.finish(lease, {"verdict": "ok"})
    assert list(refusal.value.errors) == ["refund"]
    with pytest.raises(leaseq.PolicyChanged):
        asking.finish(lease, {"refund": "no"}, expected_form=QUEUE_FORM)
    asking.configure(form=choice("other", "x"))  # which doesn't matter for this item
    asking.finish(lease, {"refund": "no"}, expected_form=OWN_FORM)
    token = asking.get("own").answers[0].token
    with pytest.raises(leaseq.Invalid):
        asking.correct("own", token, {"other": "x"}, by="meg")
    corrected = asking.correct("own", token, {"refund": "yes, in full"}, by="meg")
    assert corrected.answers[0].result == {"refund": "yes, in full"}


def test_answer_of_several_must_fit_own_form(asking: leaseq.Queue) -> None:
    asking.configure(answers=2)
    asking.enqueue("own", id="own", form=OWN_FORM)
    for person in ("ann", "bob"):
        lease = take(asking, person)
        assert lease.form == OWN_FORM
        with pytest.raises(leaseq.Invalid):
            asking.finish(lease, {"verdict": "ok"})
        asking.finish(lease, {"refund": "no"})
    assert asking.get("own").state == "finished"


def test_undone_finish_keeps_own_form(asking: leaseq.Queue) -> None:
    asking.enqueue("own", form=OWN_FORM)
    lease = take(asking)
    asking.finish(lease, {"refund": "no"})
    again = asking.undo_finish(lease)
    assert again.form == OWN_FORM
    with pytest.raises(leaseq.Invalid):
        asking.finish(again, {"verdict": "ok"})


def test_changed_answers_are_compared_with_what_own_form_prefills(asking: leaseq.Queue) -> None:
    asking.enqueue({"guess": "no"}, id="own", form={**OWN_FORM, "prefill": {"refund": "guess"}})
    asking.finish(take(asking), {"refund": "yes, in full"})
    assert asking.get("own").answers[0].changed == ("refund",)


def test_form_is_stored_once_and_deleted_with_its_last_item(server: Server, asking: leaseq.Queue) -> None:
    asking.enqueue_many(NewItem(n, id=f"own-{n}", form=OWN_FORM) for n in range(300))
    assert len(stored_forms(server, asking)) == 2
    asking.enqueue("again", id="own-0", form=choice("x", "y"))  # is there already
    assert len(stored_forms(server, asking)) == 2
    for n in range(299):
        asking.remove(f"own-{n}")
    assert asking.get("own-299").form == OWN_FORM
    asking.configure(keep_finished_count=0)
    asking.finish(take(asking), {"refund": "no"})
    while asking.clear().forgotten == 0:
        pass
    assert stored_forms(server, asking) == {}


def test_item_without_own_form_takes_no_byte_more(server: Server, asking: leaseq.Queue) -> None:
    asking.enqueue("plain", id="plain")
    (record,) = server.redis.hmget(Keys(asking.name).items, "plain")
    assert record is not None
    assert record.endswith(b'\n"plain"')
    assert len(record) == 11 + len(b'\n"plain"')
    assert not server.redis.exists(Keys(asking.name).forms, Keys(asking.name).expiring)


@pytest.mark.parametrize(
    "form",
    [
        "text",
        [],
        {"ask": {"type": "string"}},
        {"asks": {}},
        {"ask": {"type": "object", "$ref": "https://example.org/schema.json"}},
        choice("x", "y" * 70_000),
        {"ask": {"type": "object", "properties": {"a": {"pattern": "("}}}},
        {"show": 7},
        choice("x"),  # nobody can answer it
    ],
)
def test_own_form_is_checked_as_queue_form_is(asking: leaseq.Queue, form: Any) -> None:
    with pytest.raises(leaseq.Invalid) as refusal:
        asking.enqueue("own", form=form)
    assert refusal.value.field == "form"
    with pytest.raises(leaseq.Invalid) as refusal:
        asking.enqueue_many([NewItem("own", form=form)])
    assert refusal.value.field == "items[0].form"
    assert asking.stats().inbound == 0


def test_form_survives_lost_lease_and_change(asking: leaseq.Queue) -> None:
    asking.enqueue("own", id="own", form=OWN_FORM)
    asking.abandon(take(asking))
    asking.change("own", priority=1, payload="new")
    lease = take(asking)
    assert (lease.form, lease.payload) == (OWN_FORM, "new")
