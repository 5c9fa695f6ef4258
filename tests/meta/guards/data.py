"""Guards of input: limits, and one interpretation by every program."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "body, JSON depth and number limits",
        guard("body-size", "test_a_body_that_is_too_large", instead="MAX_CONTENT_LENGTH=None,"),
        guard("json-depth", "test_a_body_that_is_no_good"),
        guard("json-finite", "test_a_body_that_is_no_good"),
        guard("json-twice", "test_a_body_that_is_no_good"),
        guard("integer-digits", "test_whole_numbers_have_one_limit_both_ways"),
        guard("json-size", "test_it_is_refused_by_name_and_nothing_changes"),
        guard(
            "id-length",
            "test_it_is_refused_by_name_and_nothing_changes",
            instead="not isinstance(value, str) or not value.isprintable()",
        ),
    ),
    *row(
        "a path and a query are UTF-8, and a parameter has one value",
        guard("path-utf8", "test_a_path_that_is_not_utf_8"),
        guard("one-value", "test_a_query_that_is_no_good"),
    ),
    *row(
        "remote $ref refused",
        guard(
            "remote-ref",
            "test_a_reference_stays_in_the_form",
        ),
    ),
    *row(
        "one answer costs no more than its form allows",
        guard(
            "checks-limit",
            "test_a_recursion_that_doubles_at_each_level_of_an_answer_is_refused",
        ),
        guard(
            "subschemas-limit",
            "test_definitions_that_multiply_the_fields_of_a_page_are_refused",
            instead="_total(nodes, order, sum, PAGE_LEVELS, MAX_SUBSCHEMAS) < 0",
        ),
        guard(
            "unevaluated-times",
            "test_rules_on_what_no_other_rule_looked_at_count_for_each_time_they_look",
            instead="node.times = 1",
        ),
        guard(
            "result-bytes",
            "test_a_big_answer_is_not_told_back_a_thousand_times",
        ),
        guard(
            "result-values",
            "test_an_answer_that_is_wrong_in_a_hundred_thousand_places_is_told_one",
            instead="True",
        ),
        guard(
            "error-length",
            "test_what_is_told_of_a_wrong_answer_is_short_and_little",
            instead='errors.setdefault((path or _missing_member(error) or "result")[:MAX_ERROR], message)',
        ),
        guard(
            "error-count",
            "test_what_is_told_of_a_wrong_answer_is_short_and_little",
        ),
    ),
    *row(
        "a form's patterns take time in proportion to the text",
        guard(
            "pattern-time",
            "test_what_such_an_engine_has_not_is_refused_when_the_form_is_set",
        ),
    ),
)
