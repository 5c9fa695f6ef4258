"""Simulated people who work through a queue, for trying a queue out: see `run`."""

from leaseq.simulation.people import Outcome, Plan, run

__all__ = ["Outcome", "Plan", "run"]
