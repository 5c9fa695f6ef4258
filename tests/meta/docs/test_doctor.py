"""The example of docs/doctor.md is what a terminal shows."""

from __future__ import annotations

from pathlib import Path

from leaseq.doctor import exposure, policies, proxies, replication, rights, server, storage

PAGE = (Path(__file__).parents[3] / "docs/doctor.md").read_text()


def test_example_output_contains_message_of_each_group() -> None:
    messages = [module.PASSED for module in (exposure, policies, proxies, rights, server, storage)]
    for message in (*messages, replication.PASSED["server"], storage.MEMORY_PASSED):
        assert f"{message}\n" in PAGE
