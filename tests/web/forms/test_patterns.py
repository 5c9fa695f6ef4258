"""A form's patterns run in linear time, so no answer blocks a thread."""

from __future__ import annotations

from typing import Any

import pytest

from leaseq import Invalid
from leaseq.form import check_form, check_result


def form_with(pattern: str) -> dict[str, Any]:
    return {"ask": {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}}


@pytest.mark.parametrize("pattern", ["(?=a)a", "(a)\\1", "(?<!a)b"])
def test_unsupported_pattern_is_refused_when_form_is_set(pattern: str) -> None:
    with pytest.raises(Invalid) as error:
        check_form(form_with(pattern))
    assert error.value.field == "form"


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "^([a-z]+)*b$"])
def test_backtracking_pattern_runs_in_linear_time(pattern: str) -> None:
    check_form(form_with(pattern))
    with pytest.raises(Invalid):
        check_result(form_with(pattern), {"a": "a" * 50_000 + "!"})
