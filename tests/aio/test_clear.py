"""Those of tests/engine/clear/test_clear.py, on a queue of `leaseq.aio`."""

from tests.engine.clear.test_clear import *  # noqa: F403
