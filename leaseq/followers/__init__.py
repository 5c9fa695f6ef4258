"""Followers: programs that read the journals of queues, each event once and in order.

`Loop` is the process: it works on one queue after the other until it is stopped, waits while the server is
unavailable, and tries a queue that fails again later. `read_on` is one step: it loads the follower's place in
a journal, hands the events after it on, and saves the new place; `Lag` says when a follower falls behind. The
bridge, the webhooks and the live pages are functions that these call.
"""

from __future__ import annotations

from leaseq.followers.loop import Lag, Loop, MemoryPlace, Place, ServerPlace, Wait, read_on

__all__ = ["Lag", "Loop", "MemoryPlace", "Place", "ServerPlace", "Wait", "read_on"]
