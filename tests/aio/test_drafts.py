"""Those of tests/engine/renew/test_drafts.py, on a queue of `leaseq.aio`."""

from tests.engine.renew.test_drafts import *  # noqa: F403
