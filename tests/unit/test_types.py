"""Types match the code that they describe, where type checkers don't verify it."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

import leaseq
from leaseq.policy import PolicyChanges


def test_configure_takes_exactly_the_fields_of_a_policy() -> None:
    lists = {"bands": tuple[int, int] | list[int], "alerts": tuple[str, ...] | list[str]}
    assert get_type_hints(PolicyChanges) == {**get_type_hints(leaseq.Policy), **lists}


@pytest.mark.parametrize(
    "verb", ["renew", "save_draft", "finish", "undo_finish", "take_back", "abandon", "fail"]
)
def test_an_unknown_keyword_is_refused(queue: leaseq.Queue, verb: str) -> None:
    call: Any = getattr(queue, verb)
    with pytest.raises(TypeError, match="unexpected keyword argument 'tokn'"):
        call(id="one", tokn=1, person="ann")
