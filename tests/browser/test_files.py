"""Files of an answer: chosen, dropped, sent again after an outage, and sent to a bucket of another origin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import SECRET
from tests.browser.sessions import add_app, sign_in
from tests.browser.work_page import begin, expect_item, fill_queue, result_of
from tests.support.buckets import open_bucket
from tests.web.gunicorn_server import serve_app

ITEM = {
    "type": "object",
    "required": ["key", "name", "size", "type"],
    "properties": {
        "key": {"type": "string"},
        "name": {"type": "string"},
        "size": {"type": "integer", "minimum": 1, "maximum": 300_000},
        "type": {"type": "string"},
    },
}
FORM: dict[str, Any] = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "required": ["photos"],
        "properties": {
            "photos": {"title": "Photos", "type": "array", "x-widget": "file", "maxItems": 3, "items": ITEM},
            "note": {"title": "Note", "type": "string"},
        },
    },
}
DROP = """(question, name) => {
  const files = new DataTransfer();
  files.items.add(new File(["dropped"], name, { type: "text/plain" }));
  question.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
}"""


def file(name: str, size: int = 200_000) -> Any:
    return {"name": name, "mimeType": "image/png", "buffer": b"x" * size}


def names(queue: leaseq.Queue, id: str) -> list[str]:
    return [photo["name"] for photo in result_of(queue, id)["photos"]]


def test_files_survive_an_outage_a_reload_and_undo(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, FORM)
    begin(tab, person, queue)
    keys, boxes, rows = tab.keyboard, tab.locator(".file-list input"), tab.locator(".unsent-file")
    choose = tab.get_by_label("Choose files: Photos")
    choose.focus()
    with tab.expect_file_chooser() as chooser:
        keys.press("Enter")
    chooser.value.set_files([file("door.png"), file("huge.png", 300_001)])
    expect(boxes).to_have_count(1)
    expect(rows.locator(".error")).to_have_text("Too large: at most 300 kB.")
    check_accessibility(tab)
    keys.press("Control+Enter")  # an answer without the other file is not sent
    expect(tab.locator(".files [role=status]")).to_contain_text("not sent yet")
    expect(rows.get_by_role("button", name="Remove")).to_be_focused()
    keys.press("Enter")
    expect(rows).to_have_count(0)
    expect(choose).to_be_focused()

    tab.get_by_label("Note").fill("typed")
    tab.context.set_offline(True)
    tab.locator(".files").evaluate(DROP, "dropped.txt")
    expect(rows.locator(".error")).to_have_text("Not sent: no connection.")
    expect(rows.get_by_role("button", name="Try again")).to_be_visible()
    tab.context.set_offline(False)  # is tried again by itself
    expect(boxes).to_have_count(2)
    expect(tab.locator("#draft-status")).to_have_text("Draft saved")
    tab.reload()
    expect_item(tab, "message 1")
    expect(boxes).to_have_count(2)
    expect(tab.get_by_label("Note")).to_have_value("typed")
    tab.get_by_role("checkbox", name="door.png").press("Space")  # left out
    keys.press("Control+Enter")
    expect_item(tab, "message 2")
    expect(boxes).to_have_count(0)
    assert names(queue, "m1") == ["dropped.txt"]
    keys.press("Escape")
    keys.press("u")
    expect_item(tab, "message 1")
    expect(tab.get_by_role("checkbox", name="dropped.txt")).to_be_checked()


def test_upload_is_cancelled_and_files_without_room_are_named(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, FORM)
    begin(tab, person, queue)
    waiting: list[Route] = []

    def wait(route: Route) -> None:
        waiting.append(route)  # never answered

    tab.route("**/files/*ticket=*", wait)
    tab.get_by_label("Choose files: Photos").set_input_files(file("slow.png"))
    row = tab.locator(".unsent-file")
    expect(row.get_by_role("progressbar", name="slow.png")).to_be_visible()
    row.get_by_role("button", name="Cancel").press("Enter")
    expect(row).to_have_count(0)
    expect(tab.locator(".file-list input")).to_have_count(0)

    tab.unroute("**/files/*ticket=*")
    chosen = [file("huge.png", 300_001), *(file(f"{n}.png", 10) for n in range(4))]
    tab.get_by_label("Choose files: Photos").set_input_files(chosen)
    expect(tab.locator(".file-list input")).to_have_count(3)  # one that can't be sent takes no place
    expect(tab.locator(".files [role=status]")).to_contain_text("2.png is sent. At most 3 files.")
    expect(tab.locator(".files [role=status]")).to_contain_text("3.png")


@pytest.fixture
def bucket() -> Iterator[str]:
    """The URL of a bucket of an S3 store on another port."""
    with open_bucket("photos") as endpoint:
        yield f"s3://photos?endpoint={endpoint}"


def test_browser_sends_to_a_bucket_of_another_origin(
    chromium: Browser, server: Any, bucket: str, person: str, manager: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, FORM)
    with serve_app(server.url, SECRET, LEASEQ_FILES=bucket) as url:
        add_app(create_app(Settings(redis_url=server.url, secret_key=SECRET)), url)
        context = chromium.new_context(base_url=url)
        tab = context.new_page()
        begin(tab, person, queue)
        tab.get_by_label("Choose files: Photos").set_input_files(file("door.png"))
        expect(tab.get_by_role("checkbox", name="door.png")).to_be_checked()
        tab.keyboard.press("Control+Enter")
        expect_item(tab, "message 2")
        assert names(queue, "m1") == ["door.png"]
        context.clear_cookies()
        sign_in(tab, manager)
        tab.goto(f"/manage/{queue.name}/items/m1")
        with tab.expect_download() as download:
            tab.get_by_role("link", name="door.png").click()
        assert download.value.suggested_filename == "door.png"
        assert download.value.url.startswith(bucket.partition("endpoint=")[2])
        context.close()
