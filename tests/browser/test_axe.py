"""Accessibility and layout of every page, in both schemes, narrow and wide, in English and German: no axe
violations, and nothing wider than the window.

Add a line to PAGES for a new page. Routes that answer GET and are not pages are in NO_PAGES.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from leaseq.webapp import create_app
from leaseq.webapp.i18n import COOKIE
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import find_violations, measure_excess
from tests.browser.conftest import SECRET
from tests.browser.sample_data import fill
from tests.browser.sessions import sign_in

STRANGER, WORKER, ADMIN = "nobody", "axe ann", "axe root"
DOCS = "/api/v1/docs"

PAGES = [
    ("auth.login", STRANGER, "/login"),
    ("auth.setup", STRANGER, "/setup?token=used"),
    ("auth.welcome", STRANGER, "/welcome?token=used"),
    ("auth.welcome", STRANGER, "/welcome?token={link}"),
    ("docs.page", STRANGER, DOCS),
    ("work.home", WORKER, "/"),
    ("work.page", WORKER, "/q/axe"),
    ("work.page", WORKER, "/q/axe-some"),
    ("work.page", WORKER, "/q/axe-none"),
    ("work.page", WORKER, "/q/axe-paused"),
    ("work.day", WORKER, "/day"),
    ("work.break_page", WORKER, "/break"),
    ("auth.account", WORKER, "/account"),
    ("auth.factor", WORKER, "/account/factor"),
    ("guides.index", WORKER, "/help?q=undo"),
    ("guides.guide", WORKER, "/help/person"),
    ("guides.how_to", ADMIN, "/help/how-to/add-items"),
    ("not found", WORKER, "/nowhere"),
    ("not found", WORKER, f"/q/{'unbroken' * 8}"),
    ("not allowed", WORKER, "/manage"),
    ("manage.overview", ADMIN, "/manage"),
    ("manage.one_queue", ADMIN, "/manage/axe"),
    ("manage.one_queue", ADMIN, "/manage/axe-paused"),
    ("manage.settings", ADMIN, "/manage/axe/settings"),
    ("manage.settings_section", ADMIN, "/manage/axe/settings/advanced"),
    ("manage.access", ADMIN, "/manage/axe/access"),
    ("manage.announcement", ADMIN, "/manage/axe/announcement"),
    ("manage.confirm_delete", ADMIN, "/manage/axe/delete"),
    ("manage.new_queue", ADMIN, "/new-queue"),
    ("manage.import_page", ADMIN, "/manage/axe/import"),
    ("manage.try_out", ADMIN, "/manage/axe/try"),
    ("manage.answers", ADMIN, "/manage/axe/answers?by=person"),
    ("manage.export", ADMIN, "/manage/axe/export"),
    ("manage.items", ADMIN, "/manage/axe/items?state=inbound"),
    ("manage.items", ADMIN, "/manage/axe/items?state=reserved"),
    ("manage.items", ADMIN, "/manage/axe/items?state=finished"),
    ("manage.items", ADMIN, "/manage/axe/items?state=dead"),
    ("manage.items", ADMIN, "/manage/axe/items?state=due"),
    ("manage.late", ADMIN, "/manage/axe/late"),
    ("manage.reports", ADMIN, "/manage/axe/reports"),
    ("manage.item", ADMIN, "/manage/axe/items/held"),
    ("manage.item", ADMIN, "/manage/axe/items/done"),
    ("manage.correction", ADMIN, "/manage/axe/items/done/correct?token={answer}"),
    ("people.index", ADMIN, "/people"),
    ("people.detail", ADMIN, "/people/axe ann"),
    ("people.confirm_erase", ADMIN, "/people/axe ann/erase"),
    ("people.figures", ADMIN, "/figures?and=day"),
    ("people.log", ADMIN, "/audit-log"),
    ("webhooks.index", ADMIN, "/webhooks"),
    ("webhooks.detail", ADMIN, "/webhooks/{webhook}"),
]

NO_PAGES = {
    "static": "files",
    "auth.code": "needs a sign-in that waits for its code: tests/browser/test_people.py",
    "auth.provider": "leads to the identity provider",
    "auth.provider_callback": "leads on",
    "auth.link_provider": "needs a sign-in by a provider: tests/browser/test_provider.py",
    "work.commands": "a fragment of a page",
    "work.queues_menu": "a fragment of a page",
    "work.file": "a file",
    "work.why_nothing": "a fragment of a page",
    "work.lease_outcome": "a fragment of a page",
    "work.thread": "a fragment of a page",
    "work.session_now": "JSON",
    "manage.charts": "a fragment of a page",
    "manage.count_found": "a fragment of a page",
    "manage.peek": "a fragment of a page",
    "manage.confirm_lower": "needs items that wait for more answers: tests/web/manage/test_bulk.py",
    "manage.live": "JSON",
    "work.live": "an event stream",
    "manage.import_job": "needs an import that runs",
    "manage.rejected_rows": "a file",
    "docs.openapi": "JSON",
    "guides.picture": "a picture",
    "people.figures_file": "a file",
    "monitoring.healthz": "JSON",
    "monitoring.readyz": "JSON",
    "monitoring.metrics": "for Prometheus",
}

LOOKS = (("light", 1280), ("dark", 320))
WIDTHS = (320, 640, 1280, 1920)
"""Of German pages, whose texts are longer. 640 at the tabs' scale factor of 2 is 1280 at 200 %."""
OPEN_DETAILS = """() => {
  const longest = {};
  for (const one of document.querySelectorAll("main details:not([open])")) {
    const before = longest[one.className]?.textContent.length ?? -1;
    if (one.textContent.length > before) longest[one.className] = one;
  }
  for (const one of Object.values(longest)) one.open = true;
}"""
# Controls that are less than 44 px high or wide: too small for fingers. Links within text may be, and the
# headings of guides, which lead to themselves.
FIND_SMALL = """() => {
  const size = (one) => one.getBoundingClientRect();
  const target = (one) => [one, one.matches("input") && one.closest("label")].filter(Boolean)
    .reduce((best, other) => (size(other).height > best.height ? size(other) : best), size(one));
  const isInText = (one) => one.matches("a, button.link") && getComputedStyle(one).display === "inline"
    && [...one.parentElement.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const controls = "a[href]:not(.heading-link), button, input:not([type=hidden]), select, textarea, summary";
  return [...document.querySelectorAll(controls)]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.ariaHidden !== "true")
    .filter((one) => !isInText(one) && (target(one).height < 43.5 || target(one).width < 43.5))
    .map((one) => `${target(one).width} x ${target(one).height} px: ${one.outerHTML.slice(0, 120)}`);
}"""
# The description of REST repeats itself for a hundred calls: one in ten has all kinds of parts.
KEEP_SOME_CALLS = """() => document.querySelectorAll("main details.call").forEach(
  (one, index) => index % 10 && one.remove())"""
LONG_NAME, LONG_TEAM = "Aleksandra Featherstonehaugh", "Support Hamburg and Bremen"
LENGTHEN = """([name, team]) => {
  document.querySelector("main tbody .name a").textContent = name;
  for (const one of document.querySelectorAll("main .team")) one.textContent = team;
}"""
# Headings and buttons of a table that are cut, and names of people that are broken within a word.
FIND_CUT = """() => {
  const cells = "thead th:not(.title-column), td:has(> :is(button, .button, form))";
  const cut = [...document.querySelectorAll(`main :is(${cells})`)]
    .filter((one) => one.checkVisibility() && getComputedStyle(one).overflowX !== "visible")
    .filter((one) => one.scrollWidth > one.clientWidth);
  const names = [...document.querySelectorAll("main .people tbody .name a")].filter((one) => {
    const words = one.textContent.split(" ");
    const word = document.createRange();
    word.setStart(one.firstChild, words[0].length + 1);
    word.setEnd(one.firstChild, words.slice(0, 2).join(" ").length);
    return words.length > 1 && new Set([...word.getClientRects()].map((box) => box.top)).size > 1;
  });
  return [...cut, ...names].map((one) => one.textContent.trim());
}"""
# Focusable elements that are clipped and so invisible.
FIND_CLIPPED = """() => {
  const clip = (one) => getComputedStyle(one).clipPath;
  const clipped = (one) => one && (clip(one) === "inset(50%)" || clipped(one.parentElement));
  return [...document.querySelectorAll("main :is(a[href], button, input, select, textarea, summary)")]
    .filter((one) => one.tabIndex >= 0 && one.checkVisibility() && clipped(one)).map((one) => one.outerHTML);
}"""


@pytest.fixture(scope="module")
def path_values(server: Any, accounts: Accounts) -> dict[str, str]:
    """The values for the braces in the paths."""
    return fill(server.client, accounts, WORKER, ADMIN)


@pytest.fixture(scope="module")
def tabs(chromium: Browser, address: str, path_values: dict[str, str]) -> Iterator[dict[str, Page]]:
    """An open tab for each person, signed in."""
    open_tabs = {
        name: chromium.new_context(base_url=address, device_scale_factor=2).new_page()
        for name in (STRANGER, WORKER, ADMIN)
    }
    for name in (WORKER, ADMIN):
        sign_in(open_tabs[name], name)
    yield open_tabs
    for tab in open_tabs.values():
        tab.context.close()


def set_look(tab: Page, scheme: str, width: int) -> None:
    tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    tab.set_viewport_size({"width": width, "height": 800})


def check_layout(tab: Page, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    assert measure_excess(tab) <= 0, f"at {width} px"
    assert tab.evaluate(FIND_CLIPPED) == [], f"at {width} px"


@contextlib.contextmanager
def use_touch(tab: Page) -> Iterator[None]:
    """A touch screen and no mouse."""
    devtools = tab.context.new_cdp_session(tab)
    for enabled in (True, False):
        devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": enabled})
        devtools.send("Emulation.setEmitTouchEventsForMouse", {"enabled": enabled, "configuration": "mobile"})
        tab.wait_for_function(
            "enabled => matchMedia('(hover: none) and (pointer: coarse)').matches === enabled", arg=enabled
        )
        if enabled:
            yield
    devtools.detach()


@contextlib.contextmanager
def use_german(tab: Page, address: str) -> Iterator[None]:
    """Use German for what is loaded inside the block."""
    tab.context.add_cookies([{"name": COOKIE, "value": "de", "url": address}])
    yield
    tab.context.clear_cookies(name=COOKIE)


def open_details(tab: Page) -> None:
    """Open the closed parts of the page, the longest of each kind."""
    tab.evaluate(OPEN_DETAILS)


@pytest.mark.parametrize(("name", "path"), [(name, path) for _, name, path in PAGES])
def test_page_has_no_axe_violations_and_fits_window(
    tabs: dict[str, Page], path_values: dict[str, str], name: str, path: str
) -> None:
    tab = tabs[name]
    tab.goto(path.format(**path_values))
    if path == DOCS:
        tab.evaluate(KEEP_SOME_CALLS)
    open_details(tab)  # an open page contains all of the closed one
    for number, (scheme, width) in enumerate(LOOKS):
        set_look(tab, scheme, width)
        assert find_violations(tab, only_look=number > 0) == [], f"{scheme}, {width} px, opened"
        check_layout(tab, width)


@pytest.mark.parametrize(("name", "path"), [(name, path) for _, name, path in PAGES])
def test_german_page_fits_window(
    tabs: dict[str, Page], path_values: dict[str, str], address: str, name: str, path: str
) -> None:
    tab = tabs[name]
    with use_german(tab, address):
        tab.goto(path.format(**path_values), wait_until="domcontentloaded")
    assert tab.locator("html").get_attribute("lang") == "de"
    if path == DOCS:
        tab.evaluate(KEEP_SOME_CALLS)
    open_details(tab)
    for width in WIDTHS:
        check_layout(tab, width)
    if path != DOCS:  # for programmers, at a desk
        with use_touch(tab):
            check_layout(tab, 320)
            check_layout(tab, 390)
            assert tab.evaluate(FIND_SMALL) == []


@pytest.mark.parametrize(
    "path", ["/people", "/manage/axe/items?state=inbound", "/manage/axe/late", "/manage/axe/reports"]
)
def test_wide_german_table_fits_intermediate_widths(
    tabs: dict[str, Page], path_values: dict[str, str], address: str, path: str
) -> None:
    """Above 44rem the list is a table, which folds columns and breaks headings in narrower windows."""
    tab = tabs[ADMIN]
    with use_german(tab, address):
        tab.goto(path, wait_until="domcontentloaded")
    tab.evaluate(LENGTHEN, [LONG_NAME, LONG_TEAM])
    for width in (690, 880, 1070, 1366):
        tab.set_viewport_size({"width": width, "height": 800})
        assert measure_excess(tab) <= 0, f"at {width} px"
        assert tab.evaluate(FIND_CUT) == [], f"at {width} px"


@pytest.mark.parametrize("path", ["/nope", "/people"])
def test_error_page_has_no_axe_violations_and_fits_window(tabs: dict[str, Page], path: str) -> None:
    """Pages that don't exist, and pages that this person may not see."""
    tab = tabs[WORKER]
    response = tab.goto(path)
    assert response is not None
    assert response.status in (403, 404)
    for scheme, width in LOOKS:
        set_look(tab, scheme, width)
        assert find_violations(tab) == [], f"{scheme}, {width} px"
        assert measure_excess(tab) <= 0, f"at {width} px"


def test_header_menus_have_no_axe_violations_and_close_by_escape(tabs: dict[str, Page]) -> None:
    tab = tabs[ADMIN]
    tab.goto("/q/axe-none")
    tab.locator("#reason .other-queues").evaluate("one => one.remove()")  # a menu covers a part of it
    for scheme, width in LOOKS:
        set_look(tab, scheme, width)
        for menu in tab.locator("header .menu > summary").all():
            menu.press("Enter")
            tab.locator(".menu[open] a").last.wait_for()
            assert find_violations(tab) == []
            assert measure_excess(tab) <= 0
            tab.keyboard.press("Escape")
            assert menu.evaluate("one => one === document.activeElement && !one.parentElement.open")


def test_every_get_endpoint_is_in_pages_or_no_pages() -> None:
    app = create_app(Settings(redis_url="redis://127.0.0.1:1/0", secret_key=SECRET))
    endpoints = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ()) and not rule.endpoint.startswith("api.")
    }
    assert endpoints - {endpoint for endpoint, _, _ in PAGES} == set(NO_PAGES)
