"""An item's content by keyboard: enlarged pictures, sound, and input widgets."""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

import leaseq
from leaseq.webapp.forms.templates import picture
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import SECRET, TIMEOUT_MS
from tests.browser.sessions import sign_in
from tests.support.waiting import eventually
from tests.web.gunicorn_server import serve_app

MEDIA = "https://media.example"
FORM = {
    "show": [
        {"field": "image", "kind": "image", "label": "Page"},
        {"field": "sound", "kind": "audio", "label": "Sound"},
        {"field": "rows", "kind": "table"},
        {"field": "data", "kind": "json"},
        {"field": "photos", "kind": "images", "label": "Photos"},
        {"field": "chat", "kind": "chat", "label": "Chat"},
        {"field": "mail", "kind": "html", "label": "Mail"},
        {"field": "sound", "kind": "diff", "with": "mail", "label": "Changes"},
        {"field": "mail", "kind": "code", "label": "Source", "language": "HTML"},
        {"field": "price", "kind": "money", "currency": "EUR"},
    ],
    "ask": {
        "type": "object",
        "required": ["text"],
        "properties": {
            "text": {"title": "Text", "type": "string", "maxLength": 200},
            "count": {"title": "Count", "type": "number", "minimum": 0, "maximum": 2, "multipleOf": 0.5},
            "land": {"title": "Land", "enum": [f"Land {n}" for n in range(30)]},
            "who": {
                "title": "Who",
                "type": "object",
                "properties": {"name": {"title": "Name", "type": "string", "maxLength": 50}},
            },
            "at": {"title": "At", "type": "string", "format": "time"},
        },
    },
}


def make_tone() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8_000)
        sound.writeframes(b"\x80" * 8_000 * 30)
    return buffer.getvalue()


def fulfill_range(route: Route) -> None:
    """Answer with a byte range, as media hosts do: browsers can't seek without ranges."""
    sound = make_tone()
    start = int(route.request.headers.get("range", "bytes=0-")[6:].partition("-")[0])
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Type": "audio/wav",
        "Content-Range": f"bytes {start}-{len(sound) - 1}/{len(sound)}",
    }
    route.fulfill(status=206, body=sound[start:], headers=headers)


@pytest.fixture(scope="module")
def address_with_media(server: Any) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEASEQ_MEDIA_ORIGINS", MEDIA)
        with serve_app(server.url, SECRET) as address:
            yield address


@pytest.fixture
def item_page(
    chromium: Browser, address: str, address_with_media: str, person: str, queue: leaseq.Queue
) -> Iterator[Page]:
    """The work page, with an item of many kinds of fields."""
    queue.configure(title="Kinds", form=FORM)
    rows = [{"a": 1, "b": "two"}, {"a": 3}]
    data = {"deep": {"er": [1, 2]}}
    content = {
        "photos": [picture(), f"{MEDIA}/gone.png", {"url": picture(), "caption": "The door"}],
        "chat": [{"role": "user", "content": f"line {n}"} for n in range(40)],
        "mail": "<p>Dear Ann</p>" * 40 + "<img src=x alt=Logo><a href='https://example.org/'>bank</a>",
        "price": 12.5,
    }
    queue.enqueue(
        {"image": picture(), "sound": f"{MEDIA}/a.wav", "rows": rows, "data": data} | content, id="one"
    )
    context = chromium.new_context(base_url=address_with_media)
    context.set_default_timeout(TIMEOUT_MS)
    context.route(f"{MEDIA}/**", fulfill_range)
    context.route(f"{MEDIA}/*.png", lambda route: route.fulfill(status=404))
    tab = context.new_page()
    sign_in(tab, person)
    tab.goto(f"/q/{queue.name}")
    tab.get_by_role("button", name="Next item").click()
    expect(tab.get_by_role("cell", name="two")).to_be_visible()
    expect(tab.get_by_role("button", name="Keys")).to_be_visible()
    yield tab
    context.close()


def test_picture_opens_enlarged_and_zooms_by_key(item_page: Page) -> None:
    tab = item_page
    check_accessibility(tab)
    tab.keyboard.press("Escape")  # leaves the text box, which is focused at first
    tab.keyboard.press("o")
    image = tab.get_by_role("dialog", name="Page").get_by_role("img")
    expect(image).to_be_visible()
    before = image.bounding_box()
    tab.keyboard.press("+")
    after = image.bounding_box()
    assert before
    assert after
    assert after["width"] > before["width"]
    check_accessibility(tab)
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("dialog", name="Page")).to_have_count(0)


def test_pictures_of_a_strip_follow_each_other_by_key_and_a_missing_one_says_so(item_page: Page) -> None:
    tab = item_page
    tab.locator(".strip").scroll_into_view_if_needed()  # pictures are loaded when they are near
    failures = tab.locator(".strip [data-load-failure]")
    expect(failures.nth(1)).to_be_visible()
    expect(failures.nth(0)).to_be_hidden()
    links = tab.locator(".strip a[data-lightbox]")
    expect(links).to_have_count(2)
    links.first.focus()
    tab.keyboard.press("Enter")
    heading = tab.get_by_role("dialog").get_by_role("heading")
    expect(heading).to_have_text("Photos, 1 of 3")
    tab.keyboard.press("ArrowRight")
    expect(heading).to_have_text("The door")
    check_accessibility(tab)
    tab.keyboard.press("ArrowRight")
    expect(heading).to_have_text("Photos, 1 of 3")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Escape")
    expect(links.last).to_be_focused()
    tab.set_viewport_size({"width": 320, "height": 640})
    check_accessibility(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 320
    for region in ("Changes", "Source"):
        tab.get_by_role("region", name=region).focus()
    letter = tab.frame_locator("iframe.mail").locator("body")
    letter.focus()
    expect(letter).to_be_focused()
    expect(letter).to_have_css("outline-style", "solid")  # the frame around it shows no focus


def test_sound_plays_and_seeks_by_keys_even_while_typing(item_page: Page) -> None:
    tab = item_page

    def evaluate_audio(expression: str) -> Any:
        return tab.evaluate(f"document.querySelector('audio').{expression}")

    eventually(lambda: tab.evaluate("document.querySelector('audio').readyState > 0"))
    tab.locator("#item").focus()
    tab.keyboard.press("Space")
    eventually(lambda: tab.evaluate("!document.querySelector('audio').paused"))
    tab.get_by_label("Text").focus()
    tab.keyboard.type("a b")  # in a text box, the key only types a space
    assert evaluate_audio("paused") is False
    tab.keyboard.press("Control+Space")
    assert evaluate_audio("paused") is True
    assert tab.get_by_label("Text").input_value() == "a b"
    position = evaluate_audio("currentTime")
    tab.keyboard.press("Control+ArrowRight")
    assert evaluate_audio("currentTime") >= position + 4


def test_widgets_show_limits_step_numbers_and_keep_overlong_text(
    item_page: Page, queue: leaseq.Queue
) -> None:
    tab, text, count = item_page, item_page.get_by_label("Text"), item_page.get_by_label("Count")
    text.fill("x" * 10)
    expect(tab.get_by_text("Characters left: 190")).to_be_hidden()  # hidden while many are left
    text.fill("x" * 150)
    expect(tab.get_by_text("Characters left: 50")).to_be_visible()
    text.fill("x" * 203)
    expect(tab.get_by_text("Characters too many: 3")).to_be_visible()
    expect(text).to_have_value("x" * 203)
    text.fill("done")
    count.focus()
    for _press in range(3):
        tab.keyboard.press("ArrowUp")
    expect(count).to_have_value("1.0")
    tab.get_by_label("Land").fill("land 7")
    tab.get_by_role("group", name="Who").get_by_label("Name").fill("Ann")
    tab.get_by_label("At optional").fill("10:05")
    tab.keyboard.press("Control+Enter")
    expect(tab.locator("#item")).to_have_count(0)
    (answer,) = queue.get("one").answers
    assert answer.result == {
        "text": "done",
        "count": 1,
        "land": "Land 7",
        "who": {"name": "Ann"},
        "at": "10:05:00Z",
    }
