"""Content from people and programs is shown and exported as text, never run."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "payloads and markdown inert (script, onerror, javascript:, SVG)",
        guard(
            "markdown-clean",
            "test_markdown_is_harmless",
            "test_hostile_content_runs_no_script_on_work_and_manager_pages",
            instead="return text",
        ),
        guard(
            "link-schemes",
            "test_hostile_content_runs_no_script_on_work_and_manager_pages",
            instead="return value.strip() if parts.scheme else None",
        ),
        guard(
            "text-escaped",
            "test_hostile_payload_is_escaped_on_work_page",
            "test_hostile_content_runs_no_script_on_work_and_manager_pages",
            instead='{% if part.kind == "text" %}<p class="text" dir="auto">{{ part.value|safe }}</p>',
        ),
    ),
    *row(
        "rendering of Markdown is bounded, and cached",
        guard(
            "markdown-length",
            "test_long_markdown_ends_with_a_note",
            instead='html = rendered(data.decode("utf-8", "ignore"))',
        ),
        guard(
            "markdown-once",
            "test_the_same_markdown_is_rendered_once",
        ),
    ),
    *row(
        "images only of allowed origins",
        guard("media-origins", "test_media_come_from_named_origins_only", instead="return link"),
        guard("no-markdown-images", "test_markdown_is_harmless", instead="_TAGS = nh3.ALLOWED_TAGS"),
        guard(
            "data-images",
            "test_only_data_urls_of_bitmaps_are_shown_as_pictures",
            instead='_INLINE_PICTURE = re.compile(r"data:image/([a-z+]+);base64,[A-Za-z0-9+/]+=*")',
        ),
        guard("csp-media", "test_media_come_from_named_origins_only", instead='media = "*"'),
        guard("media-origin-setting", "test_refusal_of_invalid_setting_names_variable"),
    ),
    *row(
        "CSV cells neutralised",
        guard("cell-formula", "test_spreadsheet_formula_in_a_cell_gets_an_apostrophe"),
    ),
)
