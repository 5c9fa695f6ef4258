"""`leaseq.aio` has the same methods as `leaseq`."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import leaseq
from leaseq import aio

CALLS = sorted(name for name in dir(leaseq.Queue) if not name.startswith("_"))


def test_sync_and_async_classes_have_same_methods() -> None:
    assert sorted(name for name in dir(aio.Queue) if not name.startswith("_")) == CALLS
    assert {name for name in dir(leaseq.Client) if not name.startswith("_")} == {
        name for name in dir(aio.Client) if not name.startswith("_")
    }


@pytest.mark.parametrize("call", CALLS)
def test_sync_and_async_methods_have_same_signature_and_docstring(call: str) -> None:
    function, aio_function = (_function(getattr(queue, call)) for queue in (leaseq.Queue, aio.Queue))
    parameters, aio_parameters = (
        inspect.signature(function).parameters,
        inspect.signature(aio_function).parameters,
    )
    assert [(p.name, p.kind, p.default) for p in parameters.values()] == [
        (p.name, p.kind, p.default) for p in aio_parameters.values()
    ]
    assert inspect.getdoc(function) == inspect.getdoc(aio_function)
    iterators = ("answers", "decisions", "late_items", "person_items")
    assert inspect.iscoroutinefunction(aio_function) or call in iterators


def _function(member: Any) -> Any:
    return member.fget if isinstance(member, property) else member
