"""Those of tests/engine/abandon/test_give_back.py, on a queue of `leaseq.aio`."""

from tests.engine.abandon.test_give_back import *  # noqa: F403
