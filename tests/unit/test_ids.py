"""An item's id can be used wherever an item is named, including URLs."""

from __future__ import annotations

import os

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.arguments import item_ids, request_id
from leaseq.errors import Invalid
from tests.conftest import Server


@pytest.mark.parametrize(
    "id", [".", "..", "../x", "x/..", "a/../b", "./x", "a/.", "..\\x", "a\\.", "/..", "x/../../qa"]
)
def test_id_with_a_dot_segment_is_refused(queue: leaseq.Queue, id: str) -> None:
    with pytest.raises(Invalid) as error:
        queue.enqueue({}, id=id)
    assert error.value.field == "id"
    with pytest.raises(Invalid) as error:
        queue.enqueue_many([NewItem({}, id=id)])
    assert error.value.field == "items[0].id"
    assert not queue.exists()


@pytest.mark.parametrize("name", [".", ".."])
def test_queue_name_that_a_url_cannot_contain_is_refused(server: Server, name: str) -> None:
    with pytest.raises(Invalid) as error:
        leaseq.Queue(server.client, name)
    assert error.value.field == "queue"


@pytest.mark.parametrize("id", ["...", "a.", "https://example.org/a.b/..c", "a/b", "a\\b", ". ."])
def test_id_with_dots_that_a_url_path_keeps_is_accepted(queue: leaseq.Queue, id: str) -> None:
    assert queue.enqueue({}, id=id).id == id


@pytest.mark.parametrize("count", [1, 3, 1_000])
def test_generated_ids_are_unique_and_ascending(count: int) -> None:
    ids = [id for _ in range(3) for id in item_ids(count)]
    assert len(ids) == 3 * count
    assert ids == sorted(set(ids))
    assert {len(id) for id in ids} == {18}


def test_forked_child_generates_different_request_ids() -> None:
    """Two calls with the same request id would count as one call, sent again."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        os.write(write_end, request_id().encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read_end, 100).decode() != request_id()
    os.close(read_end)
    os.close(write_end)
