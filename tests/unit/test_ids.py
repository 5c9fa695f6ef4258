"""An item's id can be used wherever an item is named, including URLs."""

from __future__ import annotations

import os

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.ids import item_ids, request_id
from leaseq.errors import Invalid


@pytest.mark.parametrize("id", [".", ".."])
def test_an_id_that_no_url_can_name_is_refused(queue: leaseq.Queue, id: str) -> None:
    with pytest.raises(Invalid, match="which a URL can't contain") as error:
        queue.enqueue({}, id=id)
    assert error.value.field == "id"
    with pytest.raises(Invalid) as error:
        queue.enqueue_many([NewItem({}, id="good"), NewItem({}, id=id)])
    assert error.value.field == "items[1].id"
    assert not queue.exists()


@pytest.mark.parametrize("id", ["...", "a.", "./", ". ."])
def test_dots_that_stay_in_a_path_are_taken(queue: leaseq.Queue, id: str) -> None:
    assert queue.enqueue({}, id=id).id == id


@pytest.mark.parametrize("count", [1, 3, 1_000])
def test_as_many_ids_are_made_as_are_asked_for_each_after_the_one_before(count: int) -> None:
    ids = [id for _ in range(3) for id in item_ids(count)]
    assert len(ids) == 3 * count
    assert ids == sorted(set(ids))
    assert {len(id) for id in ids} == {18}


def test_a_fork_s_child_names_its_calls_otherwise() -> None:
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
