"""Expects a call to be refused by a rule, whatever its sentence is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from leaseq import Invalid


@contextmanager
def refused(rule: str, field: str | None = None) -> Iterator[pytest.ExceptionInfo[Invalid]]:
    with pytest.raises(Invalid) as error:
        yield error
    assert (error.value.rule, field or error.value.field) == (rule, error.value.field)
