"""Those of tests/engine/needed/test_cancel.py, on a queue of `leaseq.aio`."""

from tests.engine.needed.test_cancel import *  # noqa: F403
