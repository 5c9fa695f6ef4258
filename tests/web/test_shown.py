"""What the work page shows of a payload is harmless, whatever it holds."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from webapp import create_app
from webapp.settings import Settings
from webapp.show import markdown, picture_link

from .conftest import CHEAP, PASSWORD, SECRET, Browser
from .work_pages import path, take


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
    for found in (None, form):
        queue.configure(form=found)
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
