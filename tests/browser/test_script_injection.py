"""Scripts in payloads, instructions and answers do not run in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

import leaseq
from leaseq.form import KINDS
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import PASSWORD, SharedContext
from tests.browser.sessions import sign_in
from tests.support.waiting import eventually

HOSTILE_TEXT = (
    "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
    "<svg onload='window.ran = 1'><script>window.ran = 1</script></svg>"
    "<iframe srcdoc='<script>parent.ran = 1</script>'></iframe>"
    "<a href='javascript:window.ran = 1'>press</a> [press](javascript:window.ran=1) "
    "![x](x' onerror='window.ran=1) <style>*{display:none}</style> </textarea></script>{{ 7*7 }}"
)
LINK = "javascript:window.ran=1"
REMOTE = "https://evil.example/p.gif"
MAIL = (
    f"<style>*{{position:fixed;inset:0;z-index:9}}</style><base href='https://evil.example/'>"
    f"<meta http-equiv=refresh content='0;url={REMOTE}'><link rel=stylesheet href='{REMOTE}'>"
    f"<img src='{REMOTE}' srcset='{REMOTE} 2x' alt='Logo'><div style='position:fixed;inset:0'>over</div>"
    f"<table background='{REMOTE}'><tr><td>The mail</td></tr></table>"
    f"<form action='{REMOTE}'><button>x</button></form><iframe src='{REMOTE}'></iframe>"
    f"<object data='{REMOTE}'></object><video src='{REMOTE}' poster='{REMOTE}'></video>"
) + HOSTILE_TEXT
CHAT = [
    {
        "role": HOSTILE_TEXT,
        "content": [{"text": HOSTILE_TEXT}, {"image_url": {"url": REMOTE}}, {"image": LINK}],
    },
    {"role": "\u202e" * 100, "content": MAIL, "tool_calls": [{"name": HOSTILE_TEXT, "args": HOSTILE_TEXT}]},
    HOSTILE_TEXT,
]
FORM = {
    "show": [
        *({"field": name, "kind": kind} for kind in KINDS for name in ("nasty", "link")),
        *({"field": "svg", "kind": kind} for kind in ("image", "markdown", "link", "images", "pdf")),
        {"field": "mail", "kind": "html", "label": HOSTILE_TEXT},
        {"field": "chat", "kind": "chat", "label": HOSTILE_TEXT},
        {"field": "nasty", "kind": "diff", "with": "mail"},
        {"field": "nasty", "kind": "code", "language": HOSTILE_TEXT},
        *({"field": "remote", "kind": kind} for kind in ("image", "images", "pdf", "video", "audio")),
    ],
    "ask": {
        "type": "object",
        "properties": {
            "note": {
                "type": "string",
                "title": HOSTILE_TEXT,
                "description": HOSTILE_TEXT,
                "default": HOSTILE_TEXT,
            }
        },
    },
}


@pytest.fixture
def page(shared_context: SharedContext) -> Iterator[Page]:
    """A tab in which the content security policy may be violated."""
    yield shared_context.context.new_page()
    shared_context.clear()


@pytest.fixture
def hostile_queue(server: Any, queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(title="Nasty", instructions=HOSTILE_TEXT, form=FORM)
    picture = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='parent.ran=1'/>"
    queue.enqueue(
        {"nasty": HOSTILE_TEXT, "link": LINK, "svg": picture, HOSTILE_TEXT: HOSTILE_TEXT}
        | {"mail": MAIL, "chat": CHAT, "remote": REMOTE},
        id="<b onclick=x>",
    )
    return queue


def check_nothing_ran(page: Page) -> None:
    """Check that no injected script ran, and that no injected element could run one or link to one."""
    page.wait_for_load_state("load")
    assert page.evaluate("window.ran === undefined")
    elements = page.evaluate(
        """() => [...document.querySelectorAll("main *")].filter(
             (one) => ["SCRIPT", "IFRAME", "STYLE", "OBJECT", "EMBED"].includes(one.nodeName)
               || [...one.attributes].some((at) => at.name.startsWith("on"))
               || [...one.attributes].some((at) => /^\\s*javascript:/i.test(at.value))
               || (one.nodeName === "IMG" && !one.src.startsWith(location.origin)))
           .filter((one) => !one.matches("iframe[sandbox=''][srcdoc]:not([src])"))
           .map((one) => one.outerHTML.slice(0, 200))"""
    )
    assert elements == []


def check_mail(page: Page) -> None:
    """Check that the mail is shown in its frame, with our style, and that it can't leave it."""
    mail = page.frame_locator("iframe.mail >> nth=2")
    assert mail.locator("td").text_content() == "The mail"
    assert mail.locator(".picture").first.evaluate("one => getComputedStyle(one).borderTopStyle") == "dashed"
    assert mail.locator("body").evaluate("() => self.origin") == "null"
    is_covered = """(one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2)?.closest("button") !== one;
    }"""
    assert not page.locator("#answer button.primary").evaluate(is_covered)


@pytest.mark.guard("link-schemes", "mail-clean", "mail-sandbox", "markdown-clean", "text-escaped")
def test_hostile_content_runs_no_script_on_work_and_manager_pages(
    page: Page,
    hostile_queue: leaseq.Queue,
    accounts: Accounts,
) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    name = f"boss of {hostile_queue.name}"
    accounts.add(name, by="test", role="manager", password=PASSWORD)
    lease = hostile_queue.reserve(name)
    assert lease
    hostile_queue.save_draft(lease, {"note": HOSTILE_TEXT})
    sign_in(page, name)
    paths = [
        f"/q/{hostile_queue.name}",
        f"/manage/{hostile_queue.name}",
        f"/manage/{hostile_queue.name}/items/%3Cb%20onclick%3Dx%3E",
        f"/manage/{hostile_queue.name}/settings",
    ]
    for path in paths:
        page.goto(path)
        check_nothing_ran(page)
    page.goto(paths[0])
    check_mail(page)
    for link in page.locator("main a", has_text="press").all():
        assert not (link.get_attribute("href") or "").strip().lower().startswith("javascript")
    hostile_queue.finish(lease, {"note": HOSTILE_TEXT})
    page.goto(paths[2])
    check_nothing_ran(page)
    origin = page.evaluate("location.origin")
    assert [url for url in requested if not url.startswith((f"{origin}/", "data:", "about:"))] == []


def test_content_security_policy_blocks_injected_scripts(page: Page) -> None:
    """The second defence: the content security policy blocks scripts without a nonce."""
    page.goto("/login")
    page.evaluate(
        """() => {
          window.violations = [];
          document.addEventListener("securitypolicyviolation", (event) => {
            window.violations.push(event.effectiveDirective);
          });
          const script = document.createElement("script");
          script.textContent = "window.ran = 1";
          const picture = document.createElement("div");
          picture.innerHTML = "<img src=x onerror='window.ran = 1'><a href='javascript:window.ran=1'>x</a>";
          document.body.append(script, picture);
          picture.querySelector("a").click();
        }"""
    )
    eventually(lambda: page.evaluate("window.violations.length >= 3"))
    assert page.evaluate("window.ran === undefined")
