"""Those of tests/engine/adopt/test_adopt.py, on a queue of `leaseq.aio`."""

from tests.engine.adopt.test_adopt import *  # noqa: F403
