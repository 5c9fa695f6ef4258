"""Those of tests/engine/finish/test_finish.py, on a queue of `leaseq.aio`."""

from tests.engine.finish.test_finish import *  # noqa: F403
