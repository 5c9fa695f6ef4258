"""Expects a call to be refused by a rule, whatever its sentence is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from leaseq import Invalid, LeaseqError, ServerUnavailable

E = TypeVar("E", bound=LeaseqError)


def unavailable() -> ServerUnavailable:
    """The error of a server that does not answer."""
    return ServerUnavailable("no_answer", what="server", address="redis://away", why="it is away")


@contextmanager
def raises(kind: type[E], rule: str, why: str = "", **values: Any) -> Iterator[pytest.ExceptionInfo[E]]:
    """Expect an error of this kind and rule with, as far as they are given, these values. ``why`` is part of
    what another program said."""
    with pytest.raises(kind) as error:
        yield error
    assert error.value.rule == rule
    assert why.lower() in str(error.value.values.get("why", "")).lower()
    assert {name: error.value.values.get(name) for name in values} == values


@contextmanager
def refused(rule: str, field: str | None = None, **values: Any) -> Iterator[pytest.ExceptionInfo[Invalid]]:
    """Expect Invalid with this rule and, as far as they are given, this field and these values."""
    with pytest.raises(Invalid) as error:
        yield error
    assert (error.value.rule, field or error.value.field) == (rule, error.value.field)
    assert {name: error.value.values.get(name) for name in values} == values
