"""Benchmarks of the engine: each figure is a ratio to a baseline measured in the same run."""

from leaseq.bench.run import run
from leaseq.bench.setting import Figure

__all__ = ["Figure", "run"]
