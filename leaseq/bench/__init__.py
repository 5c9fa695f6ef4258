"""Benchmarks of the engine: each figure is a ratio to a baseline measured in the same run."""

from leaseq.bench.environment import Figure
from leaseq.bench.run import run

__all__ = ["Figure", "run"]
