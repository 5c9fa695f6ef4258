"""Those of tests/engine/finish/test_finish_and_next.py, on a queue of `leaseq.aio`."""

from tests.engine.finish.test_finish_and_next import *  # noqa: F403
