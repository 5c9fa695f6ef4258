"""Guards of input: limits, and one interpretation by every program."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "body, JSON depth and number limits",
        guard("body-size", "test_rest_refuses_too_large_body", instead="MAX_CONTENT_LENGTH=None,"),
        guard("body-expansion", "test_stream_that_expands_too_much_is_refused"),
        guard("workbook-expansion", "test_workbook_that_unpacks_to_too_much_is_refused"),
        guard("json-depth", "test_rest_refuses_invalid_body"),
        guard("json-finite", "test_rest_refuses_invalid_body"),
        guard("json-twice", "test_rest_refuses_invalid_body"),
        guard("integer-digits", "test_integer_limit_is_the_same_for_reading_and_writing"),
        guard("json-size", "test_bad_input_is_refused_with_field_name_and_changes_nothing"),
        guard(
            "id-length",
            "test_bad_input_is_refused_with_field_name_and_changes_nothing",
            instead="not isinstance(value, str) or not value.isprintable()",
        ),
    ),
    *row(
        "a path and a query are UTF-8, and a parameter has one value",
        guard("path-utf8", "test_rest_refuses_path_with_invalid_utf_8"),
        guard("one-value", "test_rest_refuses_invalid_query_parameter"),
    ),
    *row(
        "remote $ref refused",
        guard(
            "remote-ref",
            "test_reference_outside_form_is_refused",
        ),
    ),
    *row(
        "validation of an answer is bounded",
        guard(
            "checks-limit",
            "test_a_recursion_that_doubles_at_each_level_of_an_answer_is_refused",
        ),
        guard(
            "subschemas-limit",
            "test_definitions_that_multiply_the_fields_of_a_page_are_refused",
            instead="_totals(nodes, order, sum, PAGE_LEVELS, MAX_SUBSCHEMAS)[root] < 0",
        ),
        guard(
            "unevaluated-times",
            "test_nested_unevaluated_properties_rules_are_refused",
            instead="node.times = 1",
        ),
        guard(
            "result-bytes",
            "test_error_does_not_repeat_large_answer",
        ),
        guard(
            "result-values",
            "test_answer_with_many_errors_reports_only_first_error",
            instead="True",
        ),
        guard(
            "error-length",
            "test_errors_of_answer_are_limited_in_number_and_length",
            instead='errors.setdefault((path or _missing_member(error) or "result")[:MAX_ERROR], message)',
        ),
        guard(
            "error-count",
            "test_errors_of_answer_are_limited_in_number_and_length",
        ),
    ),
    *row(
        "a form's patterns take time in proportion to the text",
        guard(
            "pattern-time",
            "test_compiled_size_is_limited_in_validator",
        ),
        guard("pattern-text", "test_text_for_expensive_pattern_is_limited"),
        guard("patterns-total", "test_patterns_are_limited_together"),
    ),
)
