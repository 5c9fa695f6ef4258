"""Those of tests/engine/reopen/test_reopen.py, on a queue of `leaseq.aio`."""

from tests.engine.reopen.test_reopen import *  # noqa: F403
