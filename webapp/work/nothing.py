"""What a person is told that they need, where all that waits is for others."""

from __future__ import annotations

import leaseq

MOST_NAMED = 3


def needs_of(why: leaseq.Nothing) -> list[str]:
    """A text for each set of skills that they lack, the shortest first."""
    lacking = why.obstacles.lacking if why.obstacles else ()
    return [" and ".join(skills) for skills in lacking[:MOST_NAMED]]
