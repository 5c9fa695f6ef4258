"""Those of tests/engine/renew/test_renew.py, on a queue of `leaseq.aio`."""

from tests.engine.renew.test_renew import *  # noqa: F403
