"""The scripts and style sheets of pages are kept by browsers, until one of them changes."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

import leaseq.webapp
from leaseq.webapp.paths import digest_of

STATIC = Path(leaseq.webapp.__path__[0]) / "static"


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def test_file_of_page_is_kept_without_asking_again(client: FlaskClient) -> None:
    urls = re.findall(r'(?:src|href)="(/static/[^"#]+)', client.get("/login").text)
    assert urls
    for url in urls:
        with client.get(url) as response:
            cache = response.cache_control
            assert (response.status_code, cache.immutable, cache.public) == (200, True, True)
            assert cache.max_age == 31_536_000
            assert not cache.no_cache
            assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize("name", ["shared/page.js", "shared/base.css", "shared/icon.svg"])
def test_text_is_compressed_for_who_accepts_it(client: FlaskClient, name: str) -> None:
    url = f"/static/any/{name}"
    with client.get(url) as plain, client.get(url, headers={"Accept-Encoding": "br, gzip"}) as packed:
        assert [response.content_encoding for response in (plain, packed)] == [None, "gzip"]
        assert plain.vary == packed.vary, "a cache keeps both"
        assert gzip.decompress(packed.data) == plain.data
        assert plain.get_etag() != packed.get_etag()
    for kept in (plain, packed):
        headers = {
            "Accept-Encoding": kept.content_encoding or "identity",
            "If-None-Match": kept.headers["ETag"],
        }
        with client.get(url, headers=headers) as again:
            assert (again.status_code, again.data) == (304, b"")
    with client.get(url, headers={"Accept-Encoding": "gzip;q=0"}) as response:
        assert response.content_encoding is None


def test_file_for_page_of_other_version_is_sent_but_not_kept(client: FlaskClient) -> None:
    with client.get("/static/0123456789ab/shared/page.js") as response:
        assert response.status_code == 200
        assert response.cache_control.no_cache
        assert response.cache_control.max_age is None


@pytest.mark.parametrize(
    "path", ["/static/any/../shared/page.js", "/static/any/%2e%2e/app.py", "/static/any/no.js"]
)
def test_only_static_files_are_sent(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_digest_changes_with_each_name_and_content(tmp_path: Path) -> None:
    digests = set()
    for name, content in (("a.js", "1"), ("a.js", "2"), ("b.js", "2")):
        folder = tmp_path / f"{name}{content}"
        folder.mkdir()
        (folder / name).write_text(content)
        digests.add(digest_of(folder))
        assert digest_of(folder) in digests
    assert len(digests) == 3


def test_files_name_others_by_relative_urls() -> None:
    """They are below the digest of the page that loads them."""
    for path in [*STATIC.rglob("*.js"), *STATIC.rglob("*.css")]:
        assert "/static/" not in path.read_text().replace("in static/", ""), path
        for name in re.findall(r'^(?:import|export) .*?"([^"]+)";', path.read_text(), re.MULTILINE):
            assert name.startswith("."), path
            assert (path.parent / name).is_file(), path
