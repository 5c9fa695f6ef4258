"""Those of tests/engine/undo/test_undo_finish.py, on a queue of `leaseq.aio`."""

from tests.engine.undo.test_undo_finish import *  # noqa: F403
