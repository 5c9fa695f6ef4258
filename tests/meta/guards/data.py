"""Guards of input: limits, and one interpretation by every program."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "body, JSON depth and number limits",
        guard(
            "body-size",
            "webapp/app.py",
            "MAX_CONTENT_LENGTH=settings.max_body_bytes,",
            instead="MAX_CONTENT_LENGTH=None,",
        ),
        guard(
            "body-expansion",
            "webapp/serving/bodies.py",
            "self._size > FREE_BYTES + MAX_EXPANSION * self._packed_size",
            instead="False",
        ),
        guard(
            "workbook-expansion",
            "leaseq/transfer/workbooks.py",
            "\n        or part.file_size > _FREE_BYTES + MAX_EXPANSION * part.compress_size",
        ),
        guard(
            "json-depth",
            "leaseq/validation.py",
            '        raise Invalid(field, "json", what="syntax", at=getattr(error, "pos", 0) + 1) from None\n    check_depth(value, field)',
            instead='        raise Invalid(field, "json", what="syntax", at=getattr(error, "pos", 0) + 1) from None\n    pass',
        ),
        guard(
            "json-finite",
            "leaseq/validation.py",
            "isinstance(node, float) and not math.isfinite(node)",
            instead="False",
        ),
        guard("json-twice", "leaseq/validation.py", "len(members) != len(pairs)", instead="False"),
        guard(
            "integer-digits",
            "leaseq/validation.py",
            'len(digits) - digits.startswith("-") > MAX_INTEGER_DIGITS',
            instead="False",
        ),
        guard("json-size", "leaseq/validation.py", "size > MAX_JSON_BYTES", instead="False"),
        guard(
            "id-length",
            "leaseq/validation.py",
            "not isinstance(value, str) or not 1 <= len(value) <= MAX_ID or not value.isprintable()",
            instead="not isinstance(value, str) or not value.isprintable()",
        ),
    ),
    *row(
        "a path and a query are UTF-8, and a parameter has one value",
        guard("path-utf8", "webapp/paths.py", "raw.decode()", instead="pass"),
        guard(
            "one-value",
            "webapp/api/negotiation.py",
            "len(values) > 1 and name not in REPEATED",
            instead="False",
        ),
    ),
    *row(
        "remote $ref refused",
        guard(
            "remote-ref", "leaseq/form/schema_size.py", "not isinstance(schema, dict | bool)", instead="False"
        ),
    ),
    *row(
        "validation of an answer is bounded",
        guard("checks-limit", "leaseq/form/schema_size.py", "checks > MAX_CHECKS", instead="False"),
        guard(
            "subschemas-limit",
            "leaseq/form/schema_size.py",
            "_totals(nodes, order, sum, PAGE_LEVELS, MAX_SUBSCHEMAS)[root] > MAX_SUBSCHEMAS",
            instead="_totals(nodes, order, sum, PAGE_LEVELS, MAX_SUBSCHEMAS)[root] < 0",
        ),
        guard(
            "unevaluated-times",
            "leaseq/form/schema_size.py",
            'node.times = _UNEVALUATED if {"unevaluatedProperties", "unevaluatedItems"} & schema.keys() else 1',
            instead="node.times = 1",
        ),
        guard(
            "result-bytes",
            "leaseq/form/__init__.py",
            "checks * len(text.encode()) > _MAX_COPIED_BYTES",
            instead="False",
        ),
        guard(
            "result-values",
            "leaseq/form/__init__.py",
            "checks * values <= _MAX_LISTED_CHECKS",
            instead="True",
        ),
        guard(
            "error-length",
            "leaseq/form/__init__.py",
            "limit if len(text) <= _MAX_LIMIT else",
            instead="limit if True else",
        ),
        guard("error-count", "leaseq/form/__init__.py", "len(refusals) == MAX_ERRORS", instead="False"),
    ),
    *row(
        "a form's patterns take time in proportion to the text",
        guard(
            "pattern-time",
            "leaseq/form/schema_size.py",
            "OPTIONS = jsonschema_rs.RegexOptions(size_limit=MAX_SIZE)",
            instead="OPTIONS = jsonschema_rs.RegexOptions(size_limit=1_000 * MAX_SIZE)",
        ),
        guard("pattern-text", "leaseq/form/__init__.py", "_check_lengths(size, result)", instead="pass"),
        guard(
            "patterns-total", "leaseq/form/schema_size.py", "pattern_bytes > MAX_TOTAL_SIZE", instead="False"
        ),
    ),
)
