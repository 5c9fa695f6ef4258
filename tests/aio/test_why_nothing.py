"""Those of tests/engine/inspect/test_why_nothing.py, on a queue of `leaseq.aio`."""

from tests.engine.inspect.test_why_nothing import *  # noqa: F403
