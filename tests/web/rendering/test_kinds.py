"""Conversations, mail, differences, code, amounts, times, pictures and PDF: what of them is shown, and how
hostile values end as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import g

from leaseq.webapp import create_app
from leaseq.webapp.rendering.chat import LONGEST_AUTHOR, messages_of
from leaseq.webapp.rendering.mail import MAX_LINKS, mail_of
from leaseq.webapp.rendering.payload import Part, parts_of
from leaseq.webapp.rendering.texts import MAX_LINES, MAX_PIECES, MAX_STEPS, difference_of
from leaseq.webapp.rendering.values import date_text, money_text
from leaseq.webapp.settings import Settings
from tests.web.conftest import CHEAP_PASSWORDS, SECRET
from tests.web.elements import attribute, attributes, elements, texts

OK, OTHER = "https://ok.example", "https://other.example"
PNG = "data:image/png;base64,iVBORw0KGgo="


@pytest.fixture(scope="module")
def app(server: Any) -> Any:
    settings = Settings(
        redis_url=server.url, secret_key=SECRET, media_origins=(OK,), time_zone="Europe/Berlin"
    )
    return create_app(settings, passwords=CHEAP_PASSWORDS)


@pytest.fixture(autouse=True)
def request_context(app: Any) -> Iterator[None]:
    with app.test_request_context("/", headers={"Accept-Language": "en"}):
        yield


@pytest.fixture
def show(app: Any) -> Callable[..., str]:
    """The HTML of a part, as a person with this role sees it."""

    def show(kind: str, value: Any, option: str = "", role: str = "worker") -> str:
        g.person = app.extensions["leaseq"].accounts.find(role) or app.extensions["leaseq"].accounts.add(
            role, by="test", role=role
        )
        macros = app.jinja_env.get_template("shared/payload.html").module
        return str(macros.payload_part(Part(kind, "", value, option=option)))

    return show


@pytest.mark.parametrize(
    ("message", "author", "side", "contents"),
    [
        ({"role": "user", "content": "Hi"}, "User", "them", ["Hi"]),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Look"},
                    {"type": "image_url", "image_url": {"url": PNG}},
                ],
            },
            "Assistant",
            "us",
            ["Look", PNG],
        ),
        (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"function": {"name": "find", "arguments": "{}"}}],
            },
            "Assistant",
            "us",
            ["{}"],
        ),
        ({"type": "human", "data": {"content": "Hi", "name": None}}, "User", "them", ["Hi"]),
        (
            {"type": "ai", "content": "Hi", "tool_calls": [{"name": "f", "args": {"a": 1}}]},
            "Assistant",
            "us",
            ["Hi", {"a": 1}],
        ),
        (
            {"author": {"name": "Ann"}, "body": "Hi", "created_at": "2026-11-02T09:12:00Z"},
            "Ann",
            "them",
            ["Hi"],
        ),
        ({"author_id": 17, "body": "Hi"}, "17", "them", ["Hi"]),
        ({"from": "agent", "text": "Hi"}, "Agent", "us", ["Hi"]),
        ({"from": "ann@example.org", "text": "Hi"}, "ann@example.org", "them", ["Hi"]),
        # wrong types
        ("Hi", "", "note", ["Hi"]),
        (7, "", "note", [7]),
        ({}, "", "them", []),
        ({"role": 1.5, "content": {"a": 1}}, "", "them", [{"a": 1}]),
        ({"role": ["user"], "content": True}, "", "them", [True]),
        ({"role": "x" * 10_000, "content": "Hi"}, "x" * LONGEST_AUTHOR + "…", "them", ["Hi"]),
        (
            {"role": "user", "content": "Hi", "tool_calls": [7, {"function": 7}]},
            "User",
            "them",
            ["Hi", 7, {"function": 7}],
        ),
    ],
)
def test_messages_of_several_programs_are_read(message: Any, author: str, side: str, contents: Any) -> None:
    messages = messages_of([{"role": "user", "content": "first"}, message])
    assert messages is not None
    assert (messages[1].author, messages[1].side) == (author, side)
    assert [part.value for part in messages[1].parts] == contents


@pytest.mark.parametrize("value", [None, "Hi", [], ["Hi", 7], {"messages": "Hi"}, {"a": 1}])
def test_what_is_no_conversation_is_shown_as_it_is(value: Any, show: Callable[..., str]) -> None:
    assert messages_of(value) is None
    assert not elements(show("chat", value), ".chat")


def test_conversation_is_shown_with_times_and_isolated_names(show: Callable[..., str]) -> None:
    override = "\u202eresu"
    page = show("chat", [{"from": override, "text": "<b>Hi</b>", "at": "2026-11-02T09:12:00Z"}] * 5_000)
    assert len(elements(page, ".chat > li")) == 5_000
    assert set(texts(page, ".chat bdi")) == {override}
    assert "Nov 2, 2026, 10:12 CET" in texts(page, ".chat > li")[0]
    assert not elements(page, ".chat b")
    assert attribute(page, ".conversation", "tabindex") == "0"


@pytest.mark.parametrize(
    ("payload", "kinds"),
    [
        ([{"role": "user", "content": "Hi"}], ["chat"]),
        ({"id": 1, "messages": [{"role": "user", "content": "Hi"}]}, ["table", "chat"]),
        ({"messages": [{"role": "user", "content": "Hi"}]}, ["chat"]),
        ([{"role": "user", "content": None}], ["chat"]),
        ([{"role": "user", "content": "Hi"}, {"role": "user"}], ["table"]),
        ([{"role": "user", "content": 7}], ["table"]),
        ([{"role": 7, "content": "Hi"}], ["table"]),
        ([{"role": "user", "content": "Hi"}, "Hi"], ["table"]),
        ([], ["table"]),
        ({}, ["table"]),
        ({"text": "Hi"}, ["table"]),
    ],
)
def test_only_a_certain_conversation_is_guessed(payload: Any, kinds: list[str]) -> None:
    assert [part.kind for part in parts_of(None, payload)] == kinds


REMOTE = f"{OTHER}/p.gif"


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<b>Hi</b>", "<b>Hi</b>"),
        (f'<img src="{REMOTE}" alt="Logo">', '<span class="picture">Picture not loaded: Logo</span>'),
        (f'<img src="{OK}/p.gif">', '<span class="picture">Picture not loaded</span>'),
        (
            f'<img srcset="{REMOTE} 2x" style="background:url({REMOTE})">',
            '<span class="picture">Picture not loaded</span>',
        ),
        (f'<img src="{PNG}">', f'<img src="{PNG}">'),
        ('<img src="data:image/svg+xml;base64,AAAA">', '<span class="picture">Picture not loaded</span>'),
        (
            '<img src="cid:1" alt="&lt;img src=x&gt;&quot;">',
            '<span class="picture">Picture not loaded: &lt;img src=x&gt;&quot;</span>',
        ),
        ("<script>parent.ran=1</script>x", "x"),
        (
            "<style>*{position:fixed}</style><p style='position:fixed;inset:0' class=top id=top>x</p>",
            "<p>x</p>",
        ),
        ("<b onclick='parent.ran=1' onload=x>x</b>", "<b>x</b>"),
        (f"<meta http-equiv=refresh content='0;url={REMOTE}'><base href='{OTHER}'>x", "x"),
        (f"<link rel=stylesheet href='{REMOTE}'>x", "x"),
        (f"<form action='{OTHER}'><input name=a><button>x</button></form>", "x"),
        (f"<iframe src='{OTHER}'></iframe><object data='{REMOTE}'></object><embed src='{REMOTE}'>x", "x"),
        ("<svg onload='parent.ran=1'><script>parent.ran=1</script></svg>x", "x"),
        (f"<video src='{REMOTE}' poster='{REMOTE}'></video><audio src='{REMOTE}'></audio>x", "x"),
        (
            f"<table background='{REMOTE}'><tr><td background='{REMOTE}'>x</td></tr></table>",
            "<table><tbody><tr><td>x</td></tr></tbody></table>",
        ),
        ("<a href='javascript:parent.ran=1'>x</a>", "<a>x</a>"),
        ("<a href='data:text/html,<script>x</script>'>x</a>", "<a>x</a>"),
        ("<a href=' JaVa\nScript:x'>x</a>", "<a>x</a>"),
        ("<math><mtext><table><mglyph><style><img src=x onerror=parent.ran=1>", ""),
        ('</iframe></body></html>"><script>x</script>x', '"&gt;x'),
        ("<!--[if mso]><img src=x><![endif]-->x", "x"),
    ],
)
@pytest.mark.guard("mail-clean", "mail-pictures", "mail-links")
def test_mail_loads_and_runs_nothing(html: str, kept: str) -> None:
    mail = mail_of(html)
    assert mail is not None
    assert mail.body.strip() == kept
    assert mail.links == ()


def test_links_of_a_mail_are_numbered_and_listed_with_their_addresses(show: Callable[..., str]) -> None:
    html = (
        f"<a href='{OTHER}/1'>your bank</a> <a href='javascript:x'>x</a> <a href='mailto:a@b.example'>us</a>"
    )
    page = show("html", html)
    frame = attribute(page, "iframe", "srcdoc")
    assert attributes(frame, "a[href]", "href") == ["#1", "#2"]
    assert texts(page, ".addresses li") == [f"{OTHER}/1", "mailto:a@b.example"]
    assert attributes(page, ".addresses a", "href") == [f"{OTHER}/1"]
    assert attribute(page, "iframe", "sandbox") == ""
    assert len(mail_of(f"<a href='{OTHER}'>x</a>" * 2 * MAX_LINKS).links) == MAX_LINKS  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "html",
    ["<div>" * 30_000, "<li><ul>" * 20_000, "<b class=1><p>" * 10_000, "<br>" * 20_000, "<a></b>" * 99],
)
@pytest.mark.guard("mail-nesting")
def test_mail_that_takes_long_to_clean_is_shown_as_source(html: str, show: Callable[..., str]) -> None:
    assert mail_of(html) is None
    page = show("html", html)
    assert not elements(page, "iframe")
    assert elements(page, ".code-text code")[0].text(strip=True) == html


def test_usual_nesting_of_a_mail_is_no_reason_to_refuse_it() -> None:
    nested = "<table><tr><td>" * 40 + "<p><b>Hi</b><br>" * 900 + "</table>" * 40
    assert mail_of(nested) is not None


def pieces(before: str, after: str) -> Any:
    difference = difference_of({"before": before, "after": after})
    return difference and difference.pieces


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", []),
        ("same", "same", [("same", "same")]),
        (
            "on Monday.",
            "on Friday.",
            [("same", "on "), ("removed", "Monday"), ("added", "Friday"), ("same", ".")],
        ),
        ("a b c", "x y c", [("removed", "a b"), ("added", "x y"), ("same", " c")]),
        ("", "new", [("added", "new")]),
        ("old", "", [("removed", "old")]),
        ("日本語", "日本人", [("same", "日本"), ("removed", "語"), ("added", "人")]),
        (
            "a\nb",
            "x\ny",
            [("removed", "a"), ("added", "x"), ("same", "\n"), ("removed", "b"), ("added", "y")],
        ),
    ],
)
def test_difference_is_marked_by_words(before: str, after: str, expected: Any) -> None:
    assert list(pieces(before, after)) == expected


@pytest.mark.guard("difference-bounded")
def test_long_texts_are_compared_by_lines_or_shown_side_by_side(show: Callable[..., str]) -> None:
    lines = [f"{number} some words in a line\n" for number in range(2_000)]
    assert pieces("".join(lines), "".join([*lines[:1_000], "new\n", *lines[1_000:]]))[1] == ("added", "new\n")
    words = "a word and " * 9_000
    assert pieces(words, words + "one") is None  # one line each
    many_lines = "x\n" * (MAX_PIECES + 1)
    page = show("diff", {"before": many_lines, "after": many_lines + "y"})
    assert not elements(page, "ins, del")
    assert [len(text) for text in texts(page, ".both .text")] == [2 * MAX_PIECES + 1, 2 * MAX_PIECES + 3]
    # takes minutes without a limit: each word in a hundred places, and no two neighbours the same
    before, after = (
        "\n".join(f"{mark}{n}" if n % 2 else str(n // 2 % 98) for n in range(MAX_PIECES)) for mark in "uv"
    )
    assert MAX_STEPS < 10_000_000
    assert pieces(before, after) is None


def test_difference_reads_without_colours(show: Callable[..., str]) -> None:
    page = show("diff", {"before": "on <Monday>", "after": "on <Friday>"})
    assert texts(page, "del") == ["removed: Monday"]
    assert texts(page, "ins") == ["added: Friday"]
    form = {"show": [{"field": "a", "kind": "diff", "with": "b.c"}]}
    (part,) = parts_of(form, {"a": "1", "b": {"c": "2"}})
    assert part.value == {"before": "1", "after": "2"}


@pytest.mark.parametrize("value", [None, "x", {"before": "x"}, {"before": "x", "after": 7}, ["x", "y"]])
def test_what_are_no_two_texts_is_shown_as_it_is(value: Any, show: Callable[..., str]) -> None:
    assert difference_of(value) is None
    assert not elements(show("diff", value), ".diff")


def test_lines_of_code_are_numbered_up_to_a_limit(show: Callable[..., str]) -> None:
    page = show("code", "if a:\r\n\tb\n", "Python")
    assert [line.text() for line in elements(page, ".line")] == ["if a:\n", "\tb\n"]
    assert texts(page, "figcaption") == ["Python"]
    long_page = show("code", "</code>\n" * 50_000)
    assert not elements(long_page, ".line")
    assert elements(long_page, "code")[0].text() == "</code>\n" * 50_000
    assert len(elements(show("code", "x\n" * MAX_LINES), ".line")) == MAX_LINES
    assert (
        elements(show("code", "access\u202e\u2066// admin"), ".line")[0].text()
        == "access[U+202E][U+2066]// admin\n"
    )
    assert elements(show("code", {"a": 1}), ".line")[1].text() == '  "a": 1\n'


@pytest.mark.parametrize(
    ("value", "currency", "text"),
    [
        ({"amount": 1299.9, "currency": "USD"}, "", "$1,299.90"),
        ({"amount": "-4.505", "currency": "eur"}, "USD", "-€4.505"),
        (12, "JPY", "¥12"),
        ("12", "EUR", "€12.00"),
        (1e3, "XYZ", "XYZ1,000.00"),
        ({"amount": 5}, "EUR", "€5.00"),
        (12, "", None),
        (12, "EURO", None),
        (12, "<b>", None),
        ({"amount": 5, "currency": 7}, "", None),
        ({"currency": "EUR"}, "EUR", None),
        ("NaN", "EUR", None),
        ("Infinity", "EUR", None),
        ("-inf", "EUR", None),
        ("1e999999999", "EUR", None),
        ("1e-999", "EUR", None),
        (10**300, "EUR", None),
        (1e300, "EUR", None),
        ("1,5", "EUR", None),
        ("١٢", "EUR", None),
        (True, "EUR", None),
        ([5], "EUR", None),
        ("9" * 100_000, "EUR", None),
    ],
)
def test_amount_of_money(value: Any, currency: str, text: str | None, show: Callable[..., str]) -> None:
    assert money_text(value, currency) == text
    show("money", value, currency)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-11-24", "Nov 24, 2026"),
        ("2026-11-24T16:00:00Z", "Nov 24, 2026, 17:00 CET"),
        ("2026-07-24T16:00:05+05:30", "Jul 24, 2026, 12:30:05 CEST"),
        ("2026-11-24T16:00", "Nov 24, 2026, 16:00"),
        ("2026-11-24 16:00", "Nov 24, 2026, 16:00"),
        ("Tue, 24 Nov 2026 16:00:00 -0500", "Nov 24, 2026, 22:00 CET"),
        (1_795_536_000, "Nov 24, 2026, 17:00 CET"),
        (1_795_536_000_000, "Nov 24, 2026, 17:00 CET"),
        (0, "Jan 1, 1970, 01:00 CET"),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("2026-02-30", None),
        ("2026-11-24T25:00", None),
        ("2026-11-24T16:00+99:00", None),
        ("2026-11-24T16:00[Mars/Base]", None),
        (10**300, None),
        (1e300, None),
        (-(10**18), None),
        (True, None),
        ("soon", None),
        ("", None),
        (" ", None),
        ("Mon, ", None),
        ("(" * 60, None),
        ("2026-11-24" * 10_000, None),
        ({"at": "2026-11-24"}, None),
    ],
)
def test_date_or_time(value: Any, text: str | None, show: Callable[..., str]) -> None:
    assert date_text(value) == text
    show("date", value)


def test_several_pictures_are_shown_with_captions(show: Callable[..., str]) -> None:
    page = show("images", [PNG, {"url": f"{OK}/a.png", "caption": "<b>"}, f"{OTHER}/b.png", "javascript:x"])
    assert attributes(page, ".strip img", "src") == [PNG, f"{OK}/a.png"]
    assert attributes(page, ".strip img", "alt") == ["The item, 1 of 4", "<b>"]
    assert attributes(page, ".strip li > p a", "href") == [f"{OTHER}/b.png"]
    assert texts(page, ".strip li")[3].startswith("javascript:x")
    for value in ([], [7], [PNG, {"caption": "x"}], {"a": 1}, None):
        assert not elements(show("images", value), ".strip")


@pytest.mark.guard("media-origins")
def test_pdf_of_another_origin_is_a_link_with_the_reason(show: Callable[..., str]) -> None:
    assert attribute(show("pdf", f"{OK}/a.pdf"), "iframe", "src") == f"{OK}/a.pdf"
    for value in (
        f"{OTHER}/a.pdf",
        "javascript:alert(1)",
        "data:application/pdf;base64,AAAA",
        f"{OK}@evil.example/",
    ):
        assert not elements(show("pdf", value), "iframe, object, embed, a[href^=javascript], a[href^=data]")
    to_manager = show("pdf", f"{OTHER}/a.pdf", role="manager")
    assert attribute(to_manager, "a", "href") == f"{OTHER}/a.pdf"
    assert "LEASEQ_MEDIA_ORIGINS" in to_manager
    assert OTHER in texts(to_manager, ".help")[0]
    assert "LEASEQ" not in show("pdf", f"{OTHER}/a.pdf")
    assert "LEASEQ_MEDIA_ORIGINS" in show(
        "image", f"{OK}/a.png", role="manager"
    )  # shown if it can't be loaded
    assert elements(show("image", f"{OK}/a.png"), "[data-load-failure][hidden]")
