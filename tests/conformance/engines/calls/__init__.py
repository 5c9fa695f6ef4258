"""Every public call of a queue once, for its main effect; grouped by caller, as in leaseq/queue."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.engines.calls import admin, consumer, inspection, producer
from tests.conformance.engines.scene import Scene

CALLS: dict[str, Callable[[Scene], None]] = {
    call.__name__: call for part in (producer, consumer, admin, inspection) for call in part.CALLS
}
