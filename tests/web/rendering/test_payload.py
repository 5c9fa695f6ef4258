"""What the work page shows of a payload is harmless, whatever it holds."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.rendering import filters
from leaseq.webapp.rendering.filters import is_rows, markdown, media_link, picture_link, web_link
from leaseq.webapp.settings import Settings
from tests.web.conftest import CHEAP, PASSWORD, SECRET, Browser
from tests.web.work_pages import path, take


def test_what_a_payload_holds_is_inert(queue: leaseq.Queue, person: Browser) -> None:
    nasty = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    form = {
        "show": [
            {"field": "a", "kind": kind}
            for kind in ("text", "markdown", "image", "audio", "video", "link", "table", "json")
        ]
        + [{"field": "b", "kind": kind} for kind in ("markdown", "link", "image", "table")]
    }
    queue.configure(form=form, instructions=nasty, title=nasty[:200])
    queue.enqueue({"a": nasty, "b": "javascript:alert(1)", "<script>": nasty})
    take(queue, person)
    for form_of_queue in (None, form):
        queue.configure(form=form_of_queue)
        page = person.get(path(queue)).text
        assert "<script>alert" not in page
        assert "<img" not in page
        assert 'href="javascript' not in page
    queue.configure(title="Harmless")  # the lists of queues name it


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("**bold** `code`", "<strong>bold</strong>", ""),
        ("| a |\n|---|\n| 1 |", "<table>", ""),
        ("![track](https://evil.example/x.png)", "", "evil.example"),
        ("[x](javascript:alert(1))", "", 'href="javascript'),
        ("<svg onload=alert(1)>", "", "<svg"),
        ("[x](https://ok.example)", "noopener", ""),
    ],
)
def test_markdown_is_harmless(text: str, wanted: str, unwanted: str) -> None:
    shown = str(markdown(text))
    assert wanted in shown
    assert not unwanted or unwanted not in shown


@pytest.mark.parametrize(
    ("value", "address"),
    [
        (" https://ok.example/a ", "https://ok.example/a"),
        ("http://[", None),  # no address of IPv6 either
        ("https://", None),
        ("ftp://ok.example/", None),
        (7, None),
    ],
)
def test_a_link_leads_to_a_web_address_or_nowhere(value: object, address: str | None) -> None:
    assert web_link(value) == address


def test_long_markdown_ends_with_a_note(queue: leaseq.Queue, person: Browser) -> None:
    """Of the smallest text that is too long one character is missing; of the longest none is."""
    queue.configure(form={"show": [{"field": "a", "kind": "markdown"}]})
    queue.enqueue({"a": "ü" * 32_768})
    take(queue, person)
    page = person.get(path(queue)).text
    assert "ü" * 32_768 in page
    assert "The rest is not shown" not in page
    lease = queue.mine(person.name)[0]
    queue.finish(lease, {"answer": "x"})
    queue.enqueue({"a": "a" + "ü" * 32_768})
    take(queue, person)
    page = person.get(path(queue)).text
    assert "a" + "ü" * 32_767 + "<" in page
    assert "The rest is not shown: a page shows at most 65,536 bytes of a text." in page


def test_the_note_stands_outside_of_what_was_cut_through() -> None:
    shown = str(markdown("```\n" + "code\n" * 20_000))
    assert shown.index("</pre>") < shown.index("The rest is not shown")


def test_the_same_markdown_is_rendered_once() -> None:
    """A long text takes seconds to render, and everybody who works sees the same instructions."""
    text = f"# Instructions {uuid4()}"
    assert markdown(text) == markdown(text)
    before = filters.rendered.cache_info().misses
    markdown(text)
    assert filters.rendered.cache_info().misses == before
    for number in range(100):
        markdown(f"{text} {number}")
    assert filters.rendered.cache_info().currsize < 100


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("data:image/png;base64,iVBORw0KGgo=", True),
        ("data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+", False),
        ("data:text/html;base64,PHNjcmlwdD4=", False),
        ('data:image/png;base64,iVBOR" onerror="alert(1)', False),
    ],
)
def test_a_picture_in_the_payload_is_of_a_kind_that_runs_nothing(app: Any, value: str, shown: bool) -> None:
    with app.test_request_context():
        assert picture_link(value) == (value if shown else None)


def test_media_come_from_named_origins_only(server: Any, queue: leaseq.Queue) -> None:
    settings = Settings(redis_url=server.url, secret_key=SECRET, media_origins=("https://ok.example",))
    app = create_app(settings, passwords=CHEAP)
    accounts = app.extensions["leaseq"].accounts
    accounts.add(f"viewer {queue.name}", by="test", password=PASSWORD)
    person = Browser(app, f"viewer {queue.name}")
    person.sign_in()
    queue.configure(form={"show": [{"field": "a", "kind": "image"}, {"field": "b", "kind": "image"}]})
    queue.enqueue({"a": "https://ok.example/1.png", "b": "https://other.example/2.png"})
    take(queue, person)
    answer = person.get(path(queue))
    assert 'src="https://ok.example/1.png"' in answer.text
    assert 'src="https://other.example' not in answer.text
    assert 'href="https://other.example/2.png"' in answer.text
    assert "img-src 'self' https://ok.example data:" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("address", "shown"),
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
def test_an_origin_is_its_scheme_host_and_port(server: Any, address: str, shown: bool) -> None:
    settings = Settings(redis_url=server.url, secret_key=SECRET, media_origins=("https://ok.example",))
    with create_app(settings, passwords=CHEAP).test_request_context("/"):
        assert (media_link(address) == address) is shown


@pytest.mark.parametrize(
    ("value", "is_table"), [([{"a": 1}], True), ([{}, {}], True), ([], False), ([{}, 1], False), ({}, False)]
)
def test_a_table_is_a_list_of_objects(value: Any, is_table: bool) -> None:
    assert is_rows(value) == is_table
