"""Those of tests/engine/needed/test_own_form.py, on a queue of `leaseq.aio`."""

from tests.engine.needed.test_own_form import *  # noqa: F403
