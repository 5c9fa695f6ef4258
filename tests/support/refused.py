"""Expects a call to be refused by a rule, whatever its sentence is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from leaseq import Invalid


@contextmanager
def refused(rule: str, field: str | None = None, **values: Any) -> Iterator[pytest.ExceptionInfo[Invalid]]:
    """Expect Invalid with this rule and, as far as they are given, this field and these values."""
    with pytest.raises(Invalid) as error:
        yield error
    assert (error.value.rule, field or error.value.field) == (rule, error.value.field)
    assert {name: error.value.values.get(name) for name in values} == values
