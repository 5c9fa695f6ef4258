"""Faults in what REST does around a queue."""

from tests.mutants.mutant import Mutant, mutants

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        "webapp/api/idempotency.py",
        "web/api/idempotency",
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
        "webapp/api/items.py",
        "web/api/conflicts",
        ("another payload for an id is no conflict", "on_conflict=refuse,", ""),
        (
            "what conflicts in an array is a duplicate",
            "_with_ids(found.name, key, items), on_conflict=conflicts.note)",
            "_with_ids(found.name, key, items))",
        ),
        ("a line that conflicts is a duplicate", "good(), on_conflict=conflicts.note)", "good())"),
        ("a duplicate is created", "    if not entered.added:\n", "    if False:\n"),
        ("a line that is too large is invalid", "413 if bad[0].too_large else 400", "400"),
        ("an element that is too large is invalid", "raise type(refused)(", "raise leaseq.Invalid("),
    ),
    *mutants(
        "webapp/api/idempotency.py",
        "web/api/conflicts",
        (
            "an answer that is given again has lost its place",
            '"Content-Type", "Location",',
            '"Content-Type",',
        ),
    ),
    *mutants(
        "webapp/serving/gunicorn_conf.py",
        "web/serving/gunicorn",
        ("what is no request is answered in HTML", "if not unreadable.is_unreadable(exc):", "if True:"),
    ),
    *mutants(
        "webapp/app.py",
        "web/serving/gunicorn",
        ("a broken chunk is the server's fault", "    init_unreadable(app, answer)\n", ""),
    ),
    *mutants(
        "webapp/errors.py",
        "web/api/conflicts",
        (
            "a result that is too large is invalid",
            "if isinstance(error, leaseq.TooLarge):",
            "if error is None:",
        ),
    ),
    *mutants(
        "webapp/store/idempotency.py",
        "web/store/idempotency",
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
