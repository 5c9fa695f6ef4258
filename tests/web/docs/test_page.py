"""The API's page contains everything in the OpenAPI document, and its curl commands match the calls."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.exceptions import HTTPException

VOID = frozenset({"br", "hr", "input", "link", "meta", "wbr"})
SKIPPED_KEYS = frozenset({"title", "operationId", "deprecated"})
"""The title repeats the name, the operation's id is its anchor, and nothing is deprecated."""

BASE = "http://leaseq.test/api/v1"


class PageParser(HTMLParser):
    """Collects the text of each element with an id, the page's links, and each command with its call."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str | None]] = []
        self.texts: dict[str, str] = {}
        self.ids: Counter[str] = Counter()
        self.links: set[str] = set()
        self.commands: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if "href" in attributes:
            self.links.add(attributes["href"] or "")
        if attributes.get("id"):
            self.ids[str(attributes["id"])] += 1
        if attributes.get("class") == "command":
            self.commands.append((next((id for _, id in reversed(self.open) if id), ""), ""))
        if tag not in VOID:
            self.open.append(
                (
                    tag,
                    attributes.get("id")
                    or ("in a command" if tag == "pre" and self._command_is_empty() else None),
                )
            )

    def _command_is_empty(self) -> bool:
        return bool(self.commands) and self.commands[-1][1] == ""

    def handle_endtag(self, tag: str) -> None:
        while self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1][1] == "in a command":
            anchor, text = self.commands[-1]
            self.commands[-1] = (anchor, text + data)
        for _, id in self.open:
            if id:
                self.texts[id] = self.texts.get(id, "") + data


@pytest.fixture(scope="module")
def page(text: str) -> PageParser:
    return PageParser(text)


@pytest.fixture(scope="module")
def text(app: Any) -> str:
    return str(app.test_client().get("/api/v1/docs").text)


def details_of(text: str, id: str) -> str:
    """The element's content, as HTML."""
    return text.partition(f'id="{id}">')[2].partition("</details>")[0]


def one_line(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def leaves(node: Any, key: str = "") -> Iterator[str]:
    """All values in a part of the document, as the page shows them."""
    if key == "examples" and isinstance(node, dict):
        for child in node.values():
            value = child["value"]
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    elif isinstance(node, dict):
        for name, child in node.items():
            if key in ("properties", "headers", "content"):
                yield name
                yield from leaves(child)
            elif name not in SKIPPED_KEYS and not (name == "type" and "enum" in node):
                yield from leaves(child, name)
    elif isinstance(node, list):
        for child in node:
            yield from leaves(child, key)
    else:
        yield leaf(node, key)


def leaf(node: Any, key: str) -> str:
    if key == "additionalProperties":
        return "other fields" if node is False else ""
    if key == "$ref":
        return str(node).rpartition("/")[2]
    if (key, node) == ("type", "array"):
        return "array of"
    if isinstance(node, bool):
        return key if node else ""
    return f"{node:,}".removesuffix(".0") if isinstance(node, int | float) else str(node)


def missing_texts(node: Any, text: str) -> set[str]:
    flat_text = one_line(text)
    return {phrase for phrase in leaves(node) if one_line(phrase) not in flat_text}


def calls(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


def test_page_documents_every_call_completely(filled_document: dict[str, Any], page: PageParser) -> None:
    for method, path, operation in calls(filled_document):
        text = page.texts[operation["operationId"]]
        assert one_line(text).startswith(f"{method} {path} {one_line(operation['summary'])}")
        expected = {**operation, "responses": {}, "tags": []}
        if "requestBody" in operation:  # its examples are shown in the commands
            kinds = {
                name: {"schema": media["schema"]}
                for name, media in operation["requestBody"]["content"].items()
            }
            expected["requestBody"] = {**operation["requestBody"], "content": kinds}
        assert missing_texts(expected, text) == set(), path
        for status, response in operation["responses"].items():
            assert status in text
            if status < "400":
                assert missing_texts(response, text) == set(), (path, status)


def test_every_call_is_in_section_of_its_tag(document: dict[str, Any], text: str) -> None:
    for _, _, operation in calls(document):
        (kind,) = operation["tags"]
        group = text.partition(f'<h2 id="calls-{kind}">')[2].partition("</section>")[0]
        assert f'id="{operation["operationId"]}"' in group


def test_every_refusal_is_documented_and_linked_from_its_calls(
    filled_document: dict[str, Any], page: PageParser, text: str
) -> None:
    for _, path, operation in calls(filled_document):
        links = re.findall(r'href="#(refusal-[0-9-]+)"', details_of(text, operation["operationId"]))
        refusals = {
            status: response for status, response in operation["responses"].items() if status >= "400"
        }
        assert [link.split("-")[1] for link in links] == sorted(refusals), path
        for id in links:
            assert missing_texts(refusals[id.split("-")[1]], page.texts[id]) == set(), (path, id)


def test_page_documents_every_schema_completely(
    document: dict[str, Any], page: PageParser, text: str
) -> None:
    for name, schema in document["components"]["schemas"].items():
        assert missing_texts(schema, page.texts[f"schema-{name}"]) == set(), name
        closed_count = json.dumps(schema).count('"additionalProperties": false')
        assert page.texts[f"schema-{name}"].lower().count("no other fields") == closed_count, name
        rows = details_of(text, f"schema-{name}")
        for field in schema.get("properties", ()):
            mark = ' <span class="required">required</span>' if field in schema.get("required", ()) else ""
            assert f'<th scope="row"><code>{field}</code>{mark}</th>' in rows, (name, field)


def test_page_documents_authentication_schemes(document: dict[str, Any], page: PageParser, text: str) -> None:
    section_text = re.sub(r"<[^>]+>", "", text.partition('id="authentication"')[2].partition("</section>")[0])
    for name, scheme in document["components"]["securitySchemes"].items():
        assert page.ids[f"scheme-{name}"] == 1
        expected = {key: value for key, value in scheme.items() if key != "type"}
        assert missing_texts({name: expected}, section_text) == set()
    assert one_line(document["info"]["description"].split("\n\n")[0]) in one_line(page.texts["main"])


def test_every_internal_link_has_target(page: PageParser) -> None:
    assert [id for id, times in page.ids.items() if times > 1] == []
    within = {link[1:] for link in page.links if link.startswith("#")}
    assert len(within) > 40
    assert within - set(page.ids) == set()


FILES = {
    "application/json": "@items.json",
    "application/x-ndjson": "@items.jsonl",
    "application/octet-stream": "@parcel.jpg",
    "text/csv": "@items.csv",
    "text/tab-separated-values": "@items.tsv",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "@items.xlsx",
}


def test_each_curl_command_matches_its_call(app: Any, document: dict[str, Any], page: PageParser) -> None:
    """Each example of a body has a command that sends it; a call without a body has one command."""
    operations = {
        operation["operationId"]: (method, path, operation) for method, path, operation in calls(document)
    }
    bodies: dict[str, list[Any]] = {id: [] for id in operations}
    adapter = app.url_map.bind("leaseq.test")
    for id, text in page.commands[1:]:
        method, path, operation = operations[id]
        words = shlex.split(text.replace("$LEASEQ", BASE).replace("\\\n", " "))
        assert words[:2] == ["curl", "-s"]
        assert "{" not in text.splitlines()[0], "a path parameter is not filled in"
        assert (words[words.index("-X") + 1] if "-X" in words else "GET") == method
        headers = [words[index + 1] for index, word in enumerate(words) if word == "-H"]
        assert headers[0] == "Authorization: Bearer $TOKEN"
        (address,) = (word for word in words if word.startswith(BASE))
        parts = urlsplit(address)
        try:
            rule, _ = adapter.match(parts.path, method=method, return_rule=True)
        except HTTPException:
            pytest.fail(f"{method} {parts.path} is not a call")
        assert rule.endpoint == f"api.{id}", path
        required_names = [
            parameter["name"]
            for parameter in operation.get("parameters", ())
            if parameter["in"] == "query" and parameter["required"]
        ]
        assert [pair.split("=")[0] for pair in parts.query.split("&") if pair] == required_names
        if "-d" in words:
            assert headers[1] == "Content-Type: application/json"
            bodies[id].append(json.loads(words[words.index("-d") + 1]))
        elif "--data-binary" in words:
            kind = headers[1].removeprefix("Content-Type: ")
            assert kind in operation["requestBody"]["content"]
            assert words[words.index("--data-binary") + 1] == FILES[kind]
            bodies[id].append(None)
        else:
            bodies[id].append(None)
    for id, (_, _, operation) in operations.items():
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        values = [example["value"] for example in body.get("examples", {}).values()]
        assert bodies[id], id
        assert [body for body in bodies[id] if body is not None] == values, id


def test_first_command_exports_base_url_of_request(app: Any) -> None:
    parser = PageParser(app.test_client().get("/api/v1/docs", base_url="https://queue.example.org").text)
    assert parser.commands[0][1].splitlines()[0] == "export LEASEQ=https://queue.example.org/api/v1"


def test_document_and_page_are_not_sent_again_to_anonymous_client_that_has_them(app: Any) -> None:
    client = app.test_client()
    for path in ("/api/v1/docs", "/api/v1/openapi.json"):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (first.status_code, again.status_code, again.data) == (200, 304, b""), path
        assert "Content-Security-Policy" not in again.headers, "the body that it has needs its own nonce"
        assert "no-cache" in first.headers["Cache-Control"]
        other = client.get(path, headers={"If-None-Match": first.headers["ETag"], "Host": "other.test"})
        assert other.status_code == 200, "its examples name the host"
    german = client.get("/api/v1/docs", headers={"Accept-Language": "de"})
    assert german.headers["ETag"] != client.get("/api/v1/docs").headers["ETag"]


def test_page_of_signed_in_person_is_not_kept(worker_browser: Any) -> None:
    response = worker_browser.get("/api/v1/docs")
    assert worker_browser.name in response.text
    assert "ETag" not in response.headers
    assert response.headers["Cache-Control"] == "no-store"
