"""Returns the items that an import has put into a queue."""

from __future__ import annotations

from typing import Any

import leaseq


def inbound_payloads(queue: leaseq.Queue) -> list[Any]:
    return [item.payload for item in queue.items("inbound")]
