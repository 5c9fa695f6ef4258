"""docs/doctor.md: its table matches the code, and its example is what a terminal shows."""

from __future__ import annotations

from pathlib import Path

from leaseq.doctor.examine import GROUPS
from tests.meta.docs.doctor_table import table

PAGE = (Path(__file__).parents[3] / "docs/doctor.md").read_text()


def test_table_of_checks_is_up_to_date() -> None:
    assert table() in PAGE, "python -m tests.meta.docs.doctor_table prints it"


def test_example_output_contains_message_of_each_group() -> None:
    for group, message in GROUPS.items():
        assert f"  {group}: " in PAGE
        assert f"{message}\n" in PAGE, group
