"""Those of tests/engine/restore/test_restore.py, on a queue of `leaseq.aio`."""

from tests.engine.restore.test_restore import *  # noqa: F403
