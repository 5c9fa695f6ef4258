"""Faults in what REST does around a queue."""

from tests.mutants.mutant import Mutant, mutants

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        "webapp/api/keys.py",
        "web/api_sent_again",
        (
            "two people's equal keys are one request",
            "return _hashed(person().name, request.path, key) if",
            "return _hashed(request.path, key) if",
        ),
        (
            "two people's equal keys make one item id",
            "{_hashed(person().name, queue, key)}-{number}",
            "{_hashed(queue, key)}-{number}",
        ),
    ),
    *mutants(
        "webapp/sent.py",
        "web/sent",
        ("two answers of one request count twice, as long as each other", "if not new:", "if False:"),
        (
            "two answers of one request count twice, of different lengths",
            "elif replaced is not None and",
            "elif False and",
        ),
        (
            "an answer of today goes with yesterday's",
            'if len(self._redis.get(f"{base}answer:{scope}") or b"") == int(size):',
            "if size:",
        ),
    ),
)
