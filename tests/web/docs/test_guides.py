"""The guides as pages: who may read which, where their links lead, and the search."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from tests.web.conftest import Browser
from tests.web.elements import attributes, elements, texts


def test_worker_reads_and_finds_only_the_workers_guide(worker_browser: Browser) -> None:
    index = worker_browser.get("/help").text
    assert attributes(index, ".help-guides a", "href") == ["/help/person"]
    assert "/help" in attributes(index, "#person-menu a", "href")
    assert worker_browser.get("/help/person").status_code == 200
    for name in ("manager", "how-to/add-items", "security"):
        assert worker_browser.get(f"/help/{name}").status_code == 404, name
    found = worker_browser.get("/help?q=item").text
    paths = {urlsplit(href).path for href in attributes(found, ".help-results a", "href")}
    assert paths == {"/help/person"}, "although every guide has the word"


def links_of(browser: Browser, path: str) -> Iterator[str]:
    page = browser.get(path)
    assert page.status_code == 200, path
    for tag, attribute in (("a", "href"), ("img", "src")):
        for link in attributes(page.text, f".guide {tag}[{attribute}]", attribute):
            if "://" not in link:
                yield urljoin(path, link)


def test_links_of_guides_lead_to_guides_and_their_headings(manager_browser: Browser) -> None:
    index = manager_browser.get("/help").text
    guides = attributes(index, ".help-guides a", "href")
    assert guides[:2] == ["/help/person", "/help/manager"]
    assert not [path for path in guides if "decisions" in path]
    links = {link for path in guides for link in links_of(manager_browser, path)}
    pages = {path: manager_browser.get(path) for path in {urlsplit(link).path for link in links}}
    for link in links:
        parts = urlsplit(link)
        assert pages[parts.path].status_code == 200, link
        if parts.fragment:
            assert elements(pages[parts.path].text, f"[id='{parts.fragment}']"), link
    assert pages["/help/images/work.png"].mimetype == "image/png"
    widths = attributes(pages["/help/person"].text, ".guide img[height]", "width")
    assert widths == attributes(pages["/help/person"].text, ".guide img", "width"), "no text moves"
    assert all(int(width) > 100 for width in widths)


def test_search_finds_headings_first_and_marks_the_word(manager_browser: Browser) -> None:
    page = manager_browser.get("/help?q=IMPORT+items").text
    assert attributes(page, ".help-results a", "href")[0] == "/help/manager#import-items"
    found = texts(page, ".help-results mark")
    assert found
    assert {word.lower() for word in found} <= {"import", "items", ""}


def test_search_takes_any_text(manager_browser: Browser) -> None:
    for query in ("<script>alert(1)</script>", "(", "[a-z", "\\", "%s", "a" * 5_000, "\x00", "a " * 2_000):
        response = manager_browser.get("/help", query_string={"q": query})
        assert response.status_code == 200, query
        assert not elements(response.text, "main script"), query
    assert not elements(manager_browser.get("/help?q=zzzz").text, ".help-results li")
    assert elements(manager_browser.get("/help?q=").text, ".help-guides")


def test_paths_lead_to_no_other_file(manager_browser: Browser) -> None:
    names = ("../pyproject", "%2e%2e/README", "README", "decisions/0001-item-storage", "how-to/..%2Fperson")
    pictures = ("images/../person.md", "images/..%2Fperson.md", "images/work", "images/%00")
    for path in (*names, *pictures):
        assert manager_browser.get(f"/help/{path}").status_code == 404, path
