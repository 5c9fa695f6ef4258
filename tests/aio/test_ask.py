"""Some of tests/engine/needed/test_ask.py, on a queue of `leaseq.aio`."""

from tests.engine.needed.test_ask import (  # noqa: F401
    test_bad_input_is_refused_before_anything_changes,
    test_bad_timeout_of_wait_is_refused,
    test_repeated_question_gets_answer_that_came_meanwhile,
)
