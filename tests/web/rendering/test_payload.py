"""The work page shows payloads without running or loading hostile content."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

import leaseq
from leaseq.form import KINDS
from leaseq.webapp import create_app
from leaseq.webapp.rendering import filters
from leaseq.webapp.rendering.filters import is_rows, markdown
from leaseq.webapp.rendering.media import media_link, picture_link, web_link
from leaseq.webapp.settings import Settings
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, SECRET, Browser
from tests.web.work_pages import path, take


@pytest.mark.guard("text-escaped")
def test_hostile_payload_is_escaped_on_work_page(queue: leaseq.Queue, worker_browser: Browser) -> None:
    script = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    form = {"show": [{"field": field, "kind": kind} for kind in KINDS for field in "ab"]}
    queue.configure(form=form, instructions=script, title=script[:200])
    queue.enqueue({"a": script, "b": "javascript:alert(1)", "<script>": script})
    take(queue, worker_browser)
    for queue_form in (None, form):
        queue.configure(form=queue_form)
        page = worker_browser.get(path(queue)).text
        assert "<script>alert" not in page
        assert "<img" not in page
        assert 'href="javascript' not in page
    queue.configure(title="Harmless")  # lists of queues show the title


@pytest.mark.parametrize(
    ("text", "expected", "forbidden"),
    [
        ("**bold** `code`", "<strong>bold</strong>", ""),
        ("| a |\n|---|\n| 1 |", "<table>", ""),
        ("![track](https://evil.example/x.png)", "", "evil.example"),
        ("[x](javascript:alert(1))", "", 'href="javascript'),
        ("<svg onload=alert(1)>", "", "<svg"),
        ("[x](https://ok.example)", "noopener", ""),
    ],
)
@pytest.mark.guard("markdown-clean", "no-markdown-images")
def test_markdown_is_harmless(text: str, expected: str, forbidden: str) -> None:
    rendered = str(markdown(text))
    assert expected in rendered
    assert not forbidden or forbidden not in rendered


@pytest.mark.parametrize(
    ("value", "address"),
    [
        (" https://ok.example/a ", "https://ok.example/a"),
        ("http://[", None),  # an invalid IPv6 address
        ("https://", None),
        ("ftp://ok.example/", None),
        (7, None),
    ],
)
def test_link_accepts_only_web_addresses(value: object, address: str | None) -> None:
    assert web_link(value) == address


@pytest.mark.guard("markdown-length")
def test_long_markdown_ends_with_a_note(queue: leaseq.Queue, worker_browser: Browser) -> None:
    """A text at the limit is shown whole; a text one byte longer is cut."""
    queue.configure(form={"show": [{"field": "a", "kind": "markdown"}]})
    queue.enqueue({"a": "ü" * 32_768})
    take(queue, worker_browser)
    page = worker_browser.get(path(queue)).text
    assert "ü" * 32_768 in page
    assert "The rest is not shown" not in page
    lease = queue.mine(worker_browser.name)[0]
    queue.finish(lease, {"answer": "x"})
    queue.enqueue({"a": "a" + "ü" * 32_768})
    take(queue, worker_browser)
    page = worker_browser.get(path(queue)).text
    assert "a" + "ü" * 32_767 + "<" in page
    assert "The rest is not shown: a page shows at most 65,536 bytes of a text." in page


def test_truncation_note_is_outside_cut_code_block() -> None:
    rendered = str(markdown("```\n" + "code\n" * 20_000))
    assert rendered.index("</pre>") < rendered.index("The rest is not shown")


@pytest.mark.guard("markdown-once")
def test_the_same_markdown_is_rendered_once() -> None:
    """A long text takes seconds to render, and everybody sees the same instructions."""
    text = f"# Instructions {uuid4()}"
    assert markdown(text) == markdown(text)
    misses_before = filters.rendered.cache_info().misses
    markdown(text)
    assert filters.rendered.cache_info().misses == misses_before
    for number in range(100):
        markdown(f"{text} {number}")
    assert filters.rendered.cache_info().currsize < 100


@pytest.mark.parametrize(
    ("value", "is_shown"),
    [
        ("data:image/png;base64,iVBORw0KGgo=", True),
        (7, False),
        ("data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+", False),
        ("data:text/html;base64,PHNjcmlwdD4=", False),
        ('data:image/png;base64,iVBOR" onerror="alert(1)', False),
    ],
)
@pytest.mark.guard("data-images")
def test_only_data_urls_of_bitmaps_are_shown_as_pictures(app: Any, value: object, is_shown: bool) -> None:
    with app.test_request_context():
        assert picture_link(value) == (value if is_shown else None)


@pytest.mark.guard("csp-media", "media-origins")
def test_media_come_from_named_origins_only(server: Any, queue: leaseq.Queue) -> None:
    settings = Settings(redis_url=server.url, secret_key=SECRET, media_origins=("https://ok.example",))
    app = create_app(settings, passwords=CHEAP_PASSWORDS)
    accounts = app.extensions["leaseq"].accounts
    accounts.add(f"viewer {queue.name}", by="test", password=PASSWORD)
    browser = Browser(app, f"viewer {queue.name}")
    browser.sign_in()
    queue.configure(form={"show": [{"field": "a", "kind": "image"}, {"field": "b", "kind": "image"}]})
    queue.enqueue({"a": "https://ok.example/1.png", "b": "https://other.example/2.png"})
    take(queue, browser)
    response = browser.get(path(queue))
    assert 'src="https://ok.example/1.png"' in response.text
    assert 'src="https://other.example' not in response.text
    assert 'href="https://other.example/2.png"' in response.text
    rules = response.headers["Content-Security-Policy"].split("; ")
    assert {"img-src 'self' https://ok.example data:", "frame-src https://ok.example"} <= set(rules)


@pytest.mark.parametrize(
    ("address", "is_shown"),
    [
        ("https://ok.example/1.png", True),
        ("https://OK.example:443/1.png", True),
        ("https://ok.example:8443/1.png", False),
        ("http://ok.example/1.png", False),
        ("https://ok.example./1.png", False),
        ("https://ok.example.evil.org/1.png", False),
        ("https://ok.example@evil.org/1.png", False),
        ("https://evil.org\\@ok.example/1.png", False),
        ("https://ok.example:x/1.png", False),
        ("https://ok.exa mple/1.png", False),
        ("https:///1.png", False),
    ],
)
def test_media_origin_matches_by_scheme_host_and_port(server: Any, address: str, is_shown: bool) -> None:
    settings = Settings(redis_url=server.url, secret_key=SECRET, media_origins=("https://ok.example",))
    with create_app(settings, passwords=CHEAP_PASSWORDS).test_request_context("/"):
        assert (media_link(address) == address) is is_shown


@pytest.mark.parametrize(
    ("value", "is_table"), [([{"a": 1}], True), ([{}, {}], True), ([], False), ([{}, 1], False), ({}, False)]
)
def test_a_table_is_a_list_of_objects(value: Any, is_table: bool) -> None:
    assert is_rows(value) == is_table
