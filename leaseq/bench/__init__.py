"""Speed, as ratios taken in one run: a figure of ours beside the floor, measured a moment apart."""

from leaseq.bench.run import run
from leaseq.bench.setting import Figure

__all__ = ["Figure", "run"]
