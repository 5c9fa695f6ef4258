"""Runs a Hypothesis state machine as a test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def run_machine(machine: type[RuleBasedStateMachine], *, examples: int, steps: int) -> None:
    """Run the state machine; examples are not stored."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            print_blob=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
