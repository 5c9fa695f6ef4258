"""What people and programs put in is shown and exported as text, never run."""

from tests.security.guards.guard import Guard, guards

SHOW, CELLS = "webapp/rendering/filters.py", "leaseq/transfer/cells.py"
T_SHOWN, T_INERT = "tests/web/rendering/test_payload.py", "tests/browser/test_inert.py"

INERT = "payloads and markdown inert (script, onerror, javascript:, SVG)"
IMAGES = "images only of allowed origins"

GUARDS: tuple[Guard, ...] = (
    *guards(
        INERT,
        SHOW,
        f"{T_SHOWN}::test_markdown_is_harmless {T_INERT}::test_on_the_work_page_and_the_managers_pages",
        ("nh3.clean(_markdown.render(text), tags=_TAGS)", "text"),
    ),
    *guards(
        "Markdown takes a bounded time, once",
        SHOW,
        T_SHOWN,
        ("rendered(whole[:MAX_MARKDOWN]", "rendered(whole[:]"),
        ("@lru_cache(maxsize=64)\n", ""),
    ),
    *guards(
        INERT,
        SHOW,
        f"{T_INERT}::test_on_the_work_page_and_the_managers_pages",
        ('if parts.scheme in ("http", "https") and parts.netloc else None', "if parts.scheme else None"),
    ),
    *guards(
        INERT,
        "webapp/templates/shared/payload.html",
        f"{T_INERT}::test_on_the_work_page_and_the_managers_pages {T_SHOWN}",
        (
            '<p class="text" dir="auto">{{ one.value if one.value is string else one.value|pretty }}</p>',
            '<p class="text" dir="auto">{{ one.value|safe }}</p>',
        ),
    ),
    *guards(
        IMAGES,
        SHOW,
        f"{T_SHOWN}::test_media_come_from_named_origins_only",
        (
            "return link if origin_of(link) in state().settings.media_origins else None",
            "return link",
        ),
    ),
    *guards(
        IMAGES,
        SHOW,
        f"{T_SHOWN}::test_markdown_is_harmless",
        ('_TAGS = nh3.ALLOWED_TAGS - {"img"}', "_TAGS = nh3.ALLOWED_TAGS"),
    ),
    *guards(
        IMAGES,
        SHOW,
        f"{T_SHOWN}::test_a_picture_in_the_payload_is_of_a_kind_that_runs_nothing",
        ("data:image/(png|jpeg|gif|webp|avif);base64,", "data:image/([a-z+]+);base64,"),
    ),
    *guards(
        IMAGES,
        "webapp/security/headers.py",
        f"{T_SHOWN}::test_media_come_from_named_origins_only",
        ("""media = " ".join(("'self'", *state().settings.media_origins))""", 'media = "*"'),
    ),
    *guards(
        IMAGES,
        "webapp/settings.py",
        "tests/web/test_settings.py::test_a_bad_setting_is_named",
        ("if origin_of(origin) != origin:", "if False:"),
    ),
    *guards(
        "CSV cells neutralised",
        CELLS,
        "tests/transfer/test_writing.py::test_what_a_spreadsheet_would_run_gets_an_apostrophe",
        ("if value.startswith(_RUNS) and not _NUMBER.fullmatch(value):", "if False:"),
        ('inert = _SPLIT.sub(r"\\1\'", value)', "inert = value"),
    ),
)
