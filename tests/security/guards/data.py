"""What is read has limits, and means the same to every program."""

from tests.security.guards.guard import Guard, guards

STRICT, APP, FORM = "leaseq/validation.py", "webapp/app.py", "leaseq/form.py"
SCHEMA_SIZE = "leaseq/schema_size.py"
T_BODIES, T_JSON = "tests/web/api/test_bad_input.py", "tests/unit/test_json.py"
T_FORM_WORK = "tests/web/forms/test_form_work.py"
T_REFUSED = "tests/engine/enqueue/test_bad_input.py::test_it_is_refused_by_name_and_nothing_changes"

LIMITS = "body, JSON depth and number limits"
ONE_MEANING = "a path and a query are UTF-8, and a parameter has one value"
T_TARGETS = "tests/web/api/test_bad_targets.py"

GUARDS: tuple[Guard, ...] = (
    *guards(
        LIMITS,
        APP,
        f"{T_BODIES}::test_a_body_that_is_too_large",
        ("MAX_CONTENT_LENGTH=settings.max_body_bytes,", "MAX_CONTENT_LENGTH=None,"),
    ),
    *guards(
        LIMITS,
        STRICT,
        f"{T_BODIES}::test_a_body_that_is_no_good",
        ("    check_depth(value, field)\n    return value", "    return value"),
        ("elif isinstance(node, float) and not math.isfinite(node):", "elif False:"),
        ("    if len(found) != len(pairs):", "    if False:"),
    ),
    *guards(
        LIMITS,
        STRICT,
        f"{T_JSON}::test_whole_numbers_have_one_limit_both_ways",
        ('if len(digits) - digits.startswith("-") > MAX_INTEGER_DIGITS:', "if False:"),
    ),
    *guards(
        LIMITS,
        STRICT,
        T_REFUSED,
        ("if size > MAX_JSON_BYTES:", "if False:"),
        ("or not 1 <= len(value) <= MAX_ID or", "or"),
    ),
    *guards(
        ONE_MEANING,
        "webapp/api/negotiation.py",
        f"{T_TARGETS}::test_a_path_that_is_not_utf_8",
        ("            raw.decode()\n", "            pass\n"),
    ),
    *guards(
        ONE_MEANING,
        "webapp/api/negotiation.py",
        f"{T_TARGETS}::test_a_query_that_is_no_good",
        ("        if len(values) > 1:\n", "        if False:\n"),
    ),
    *guards(
        "remote $ref refused",
        SCHEMA_SIZE,
        T_FORM_WORK,
        ("if not isinstance(found, dict | bool):", "if False:"),
    ),
    *guards(
        "one answer costs no more than its form allows",
        SCHEMA_SIZE,
        T_FORM_WORK,
        ("    if checks > MAX_CHECKS:", "    if False:"),
        (", PAGE_LEVELS, MAX_SUBSCHEMAS) > MAX_SUBSCHEMAS:", ", PAGE_LEVELS, MAX_SUBSCHEMAS) < 0:"),
        ("node.times = _UNEVALUATED if", "node.times = 1 if"),
    ),
    *guards(
        "one answer costs no more than its form allows",
        FORM,
        T_FORM_WORK,
        ("if checks * len(text.encode()) > _COPIED:", "if False:"),
        ("if checks * values <= _LISTED:", "if True:"),
        ("error.message[:MAX_ERROR]", "error.message"),
        ("        if len(errors) == MAX_ERRORS:\n            break\n", ""),
    ),
    *guards(
        "patterns take no longer than their text",
        FORM,
        "tests/web/forms/test_patterns.py",
        ("        pattern_options=jsonschema_rs.RegexOptions(),\n", ""),
    ),
)
