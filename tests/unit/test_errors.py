"""Every error can be pickled with all its attributes, as between the processes of a pool."""

from __future__ import annotations

import copy
import pickle
import pkgutil
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import pytest

import leaseq
from leaseq import backup, webapp
from leaseq.bridge.database import DatabaseRefused, DatabaseUnavailable
from leaseq.bridge.registry import WindowConflict
from leaseq.server.datadir import DataDirRefused
from leaseq.server.embedded import EmbeddedServerError
from leaseq.server.supervisor import ChildFailed
from leaseq.webapp.commands.serve import PortTaken
from leaseq.webapp.i18n import Ambiguous
from leaseq.webapp.settings import SettingsRefused
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.accounts.people import NoSuchPerson
from leaseq.webapp.store.accounts.provider import AccountNotLinked
from leaseq.webapp.store.open_calls import TooManyOpen
from leaseq.webapp.store.person_data import UnreadableQueues
from leaseq.webhooks import EndpointNotFound
from leaseq.webhooks.sending import AddressRefused
from tests.support.leases import not_none

EXAMPLES: tuple[leaseq.LeaseqError, ...] = (
    leaseq.LeaseqError("whatever it is"),
    leaseq.Invalid("result", "form", question="stars", why="too many", errors={"stars": "too many"}),
    leaseq.TooLarge("payload", "maximum", what="json_bytes", maximum=262_144, count=262_145),
    leaseq.ItemNotFound("reviews", "r-1"),
    leaseq.QueueNotFound("reviews"),
    leaseq.QueueExists("reviews"),
    leaseq.PolicyChanged("reviews", leaseq.Policy(holds=2, form={"show": ["text"]})),
    leaseq.ServerUnavailable("unconfirmed", what="fsync", seconds=1, taken=True),
    leaseq.ServerRefused("server_refused", what="error", why="OOM"),
    leaseq.QueueUnreadable("newer", what="schema", name="9"),
    ChildFailed("it ended"),
    EmbeddedServerError("it did not start"),
    DataDirRefused("not a directory of ours"),
    NoSuchPerson("ann"),
    UnreadableQueues("ann", {"reviews": leaseq.QueueUnreadable("newer", what="schema", name="9")}),
    AccountNotLinked(
        Person("ann", "manager", ("fr",), "", False, 1, True, datetime(2026, 11, 22, tzinfo=UTC))
    ),
    PortTaken("something listens on port 8000"),
    SettingsRefused("LEASEQ_SECRET_KEY is not set"),
    TooManyOpen("streams"),
    DatabaseUnavailable("the database does not answer"),
    WindowConflict("window", "other_window", high=100, low=50, queue="reviews"),
    DatabaseRefused("its tables are of another version"),
    EndpointNotFound("wh-none"),
    AddressRefused("url", "address", what="plain", host="example.org", address="8.8.8.8"),
    Ambiguous("priority", "page", what="ambiguous", first="1.234", second="1234"),
    backup.BackupDamaged("it was cut off", 7),
    backup.BackupFailed("the server was restarted"),
    leaseq.StillWaiting("q-1"),
    leaseq.NotAnswered("q-1", "cancelled"),
    backup.RestoreRefused("there are people"),
)
"""One of each class but LeaseLost and ItemFinished, with nothing left at its default."""


RUN_AT_IMPORT = ("__main__", ".wsgi", ".serving", ".migrations.env")


def subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def test_examples_cover_every_error_class() -> None:
    for package in (leaseq, webapp):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(RUN_AT_IMPORT):
                import_module(module.name)
    ours = {
        one for one in subclasses(leaseq.LeaseqError) if one.__module__.startswith(("leaseq.", "webapp."))
    }
    assert {type(one) for one in EXAMPLES} == {leaseq.LeaseqError, *ours} - {
        leaseq.LeaseLost,
        leaseq.ItemFinished,
    }


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda one: type(one).__name__)
def test_error_is_equal_after_pickling_and_copying(error: leaseq.LeaseqError) -> None:
    error.add_note("seen by the pool")
    protocols = range(pickle.HIGHEST_PROTOCOL + 1)
    for restored_error in (
        *(pickle.loads(pickle.dumps(error, number)) for number in protocols),
        copy.deepcopy(error),
    ):
        assert error_contents(restored_error) == error_contents(error)


def test_lease_lost_is_equal_after_pickling_with_its_item(queue: leaseq.Queue) -> None:
    queue.enqueue({"text": "ä"}, id="r-1", requires=["fr"])
    lease = not_none(queue.reserve("ann", skills=["fr"]))
    queue.release("r-1")
    queue.reserve("bob", skills=["fr"])
    with pytest.raises(leaseq.LeaseLost) as error:
        queue.finish(lease, {"stars": 4})
    restored_error = pickle.loads(pickle.dumps(error.value))
    assert error_contents(restored_error) == error_contents(error.value)
    assert (restored_error.item, restored_error.answer_kept) == (queue.get("r-1"), True)


def test_item_finished_is_pickled_with_its_item(queue: leaseq.Queue) -> None:
    queue.enqueue({"text": "hello"}, id="r-1")
    queue.finish(not_none(queue.reserve("ann")), {"stars": 4})
    with pytest.raises(leaseq.ItemFinished) as error:
        queue.remove("r-1", unless="finished")
    restored_error = pickle.loads(pickle.dumps(error.value))
    assert error_contents(restored_error) == error_contents(error.value)
    assert restored_error.item == queue.get("r-1")


def error_contents(error: Exception) -> dict[str, Any]:
    return {"class": type(error), "text": str(error), "repr": repr(error), "args": error.args, **vars(error)}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (leaseq.ItemNotFound("reviews", "r-1"), "queue 'reviews' has no item 'r-1'"),
        (leaseq.QueueNotFound("reviews"), "there is no queue 'reviews'"),
        (leaseq.QueueExists("reviews"), "there is already a queue 'reviews'"),
    ],
)
def test_error_message_names_the_queue_or_item(error: leaseq.LeaseqError, message: str) -> None:
    assert str(error).startswith(message)
