"""Every kind of key of the web app, for `leaseq backup`. A test compares it with what the app stores."""

from __future__ import annotations

from leaseq.webapp.store import (
    breaks,
    idempotency,
    import_keys,
    limit_keys,
    list_settings,
    open_calls,
    queue_access,
    samples,
    simulations,
    threads,
)
from leaseq.webapp.store.accounts import keys

_STORES = (
    keys,
    breaks,
    idempotency,
    import_keys,
    limit_keys,
    list_settings,
    open_calls,
    queue_access,
    samples,
    simulations,
    threads,
)
KEYS = tuple(kind for store in _STORES for kind in store.STORED)
