"""The example of docs/doctor.md is what a terminal shows."""

from __future__ import annotations

from pathlib import Path

from leaseq.doctor.examine import GROUPS

PAGE = (Path(__file__).parents[3] / "docs/doctor.md").read_text()


def test_example_output_contains_message_of_each_group() -> None:
    for group, message in GROUPS.items():
        assert f"  {group}: " in PAGE
        assert f"{message}\n" in PAGE, group
