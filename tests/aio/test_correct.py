"""Those of tests/engine/reopen/test_correct.py, on a queue of `leaseq.aio`."""

from tests.engine.reopen.test_correct import *  # noqa: F403
