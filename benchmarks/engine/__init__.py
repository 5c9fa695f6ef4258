"""Benchmarks of the engine: each figure is a ratio to a baseline measured in the same run."""

from benchmarks.engine.environment import Figure
from benchmarks.engine.run import run

__all__ = ["Figure", "run"]
