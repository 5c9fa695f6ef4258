"""Those of tests/engine/guarantees/test_misuse.py, on a queue of `leaseq.aio`."""

from tests.engine.guarantees.test_misuse import *  # noqa: F403
