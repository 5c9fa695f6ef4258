"""Those of tests/engine/guarantees/test_lease_arguments.py, on a queue of `leaseq.aio`."""

from tests.engine.guarantees.test_lease_arguments import *  # noqa: F403
