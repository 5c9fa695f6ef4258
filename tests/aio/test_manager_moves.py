"""Those of tests/engine/admin/test_manager_moves.py, on a queue of `leaseq.aio`."""

from tests.engine.admin.test_manager_moves import *  # noqa: F403
