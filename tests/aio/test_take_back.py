"""Those of tests/engine/undo/test_take_back.py, on a queue of `leaseq.aio`."""

from tests.engine.undo.test_take_back import *  # noqa: F403
