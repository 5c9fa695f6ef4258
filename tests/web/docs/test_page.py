"""The API's own page tells all that the OpenAPI document tells, and its commands are the calls."""

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
NOT_TOLD = frozenset({"title", "operationId", "deprecated"})
"""The name in other letters; where the call stands; what none is."""

BASE = "http://leaseq.test/api/v1"


class PageParser(HTMLParser):
    """What each element that has an id says, what the page links to, and each command with its call."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str | None]] = []
        self.said: dict[str, str] = {}
        self.ids: Counter[str] = Counter()
        self.links: set[str] = set()
        self.commands: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if "href" in given:
            self.links.add(given["href"] or "")
        if given.get("id"):
            self.ids[str(given["id"])] += 1
        if given.get("class") == "command":
            self.commands.append((next((id for _, id in reversed(self.open) if id), ""), ""))
        if tag not in VOID:
            self.open.append(
                (tag, given.get("id") or ("in a command" if tag == "pre" and self._copied() else None))
            )

    def _copied(self) -> bool:
        return bool(self.commands) and self.commands[-1][1] == ""

    def handle_endtag(self, tag: str) -> None:
        while self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1][1] == "in a command":
            place, text = self.commands[-1]
            self.commands[-1] = (place, text + data)
        for _, id in self.open:
            if id:
                self.said[id] = self.said.get(id, "") + data


@pytest.fixture(scope="module")
def page(text: str) -> PageParser:
    return PageParser(text)


@pytest.fixture(scope="module")
def text(app: Any) -> str:
    return str(app.test_client().get("/api/v1/docs").text)


def opened(text: str, id: str) -> str:
    """What is in there, as HTML."""
    return text.partition(f'id="{id}">')[2].partition("</details>")[0]


def one_line(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def leaves(said: Any, key: str = "") -> Iterator[str]:
    """All that a piece of the document says, each as a reader finds it."""
    if key == "examples" and isinstance(said, dict):
        for one in said.values():
            value = one["value"]
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    elif isinstance(said, dict):
        for name, one in said.items():
            if key in ("properties", "headers", "content"):
                yield name
                yield from leaves(one)
            elif name not in NOT_TOLD and not (name == "type" and "enum" in said):
                yield from leaves(one, name)
    elif isinstance(said, list):
        for one in said:
            yield from leaves(one, key)
    else:
        yield leaf(said, key)


def leaf(said: Any, key: str) -> str:
    if key == "additionalProperties":
        return "other fields"
    if key == "$ref":
        return str(said).rpartition("/")[2]
    if (key, said) == ("type", "array"):
        return "array of"
    if isinstance(said, bool):
        return key if said else ""
    return f"{said:,}".removesuffix(".0") if isinstance(said, int | float) else str(said)


def missing(said: Any, text: str) -> set[str]:
    flat = one_line(text)
    return {one for one in leaves(said) if one_line(one) not in flat}


def calls(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, said in item.items():
            yield method.upper(), path, said


def test_every_call_is_told_whole(filled_document: dict[str, Any], page: PageParser) -> None:
    for method, path, said in calls(filled_document):
        text = page.said[said["operationId"]]
        assert one_line(text).startswith(f"{method} {path} {one_line(said['summary'])}")
        described = {**said, "responses": {}, "tags": []}
        if "requestBody" in said:  # its examples are in the commands
            kinds = {name: {"schema": one["schema"]} for name, one in said["requestBody"]["content"].items()}
            described["requestBody"] = {**said["requestBody"], "content": kinds}
        assert missing(described, text) == set(), path
        for status, answer in said["responses"].items():
            assert status in text
            if status < "400":
                assert missing(answer, text) == set(), (path, status)


def test_every_call_stands_with_those_of_its_kind(document: dict[str, Any], text: str) -> None:
    for _, _, said in calls(document):
        (kind,) = said["tags"]
        group = text.partition(f'<h2 id="calls-{kind}">')[2].partition("</section>")[0]
        assert f'id="{said["operationId"]}"' in group


def test_every_refusal_is_told_and_each_call_points_to_its_own(
    filled_document: dict[str, Any], page: PageParser, text: str
) -> None:
    for _, path, said in calls(filled_document):
        linked = re.findall(r'href="#(refusal-[0-9-]+)"', opened(text, said["operationId"]))
        refused = {status: answer for status, answer in said["responses"].items() if status >= "400"}
        assert [one.split("-")[1] for one in linked] == sorted(refused), path
        for id in linked:
            assert missing(refused[id.split("-")[1]], page.said[id]) == set(), (path, id)


def test_every_shape_is_told_whole(document: dict[str, Any], page: PageParser, text: str) -> None:
    for name, schema in document["components"]["schemas"].items():
        assert missing(schema, page.said[f"shape-{name}"]) == set(), name
        closed = json.dumps(schema).count('"additionalProperties": false')
        assert page.said[f"shape-{name}"].lower().count("no other fields") == closed, name
        rows = opened(text, f"shape-{name}")
        for field in schema.get("properties", ()):
            must = ' <span class="must">required</span>' if field in schema.get("required", ()) else ""
            assert f'<th scope="row"><code>{field}</code>{must}</th>' in rows, (name, field)


def test_it_says_how_to_say_who_calls(document: dict[str, Any], page: PageParser, text: str) -> None:
    told_there = re.sub(r"<[^>]+>", "", text.partition('id="who"')[2].partition("</section>")[0])
    for name, way in document["components"]["securitySchemes"].items():
        assert page.ids[f"way-{name}"] == 1
        described = {key: value for key, value in way.items() if key != "type"}
        assert missing({name: described}, told_there) == set()
    assert one_line(document["info"]["description"].split("\n\n")[0]) in one_line(page.said["main"])


def test_every_link_within_leads_somewhere(page: PageParser) -> None:
    assert [id for id, times in page.ids.items() if times > 1] == []
    within = {link[1:] for link in page.links if link.startswith("#")}
    assert len(within) > 40
    assert within - set(page.ids) == set()


FILES = {
    "application/json": "@items.json",
    "application/x-ndjson": "@items.jsonl",
    "text/csv": "@items.csv",
    "text/tab-separated-values": "@items.tsv",
}


def test_each_command_is_its_call(app: Any, document: dict[str, Any], page: PageParser) -> None:
    """Each example of a body has a command that sends it, and a call without a body has one."""
    known = {said["operationId"]: (method, path, said) for method, path, said in calls(document)}
    sent: dict[str, list[Any]] = {id: [] for id in known}
    adapter = app.url_map.bind("leaseq.test")
    for id, text in page.commands[1:]:
        method, path, said = known[id]
        words = shlex.split(text.replace("$LEASEQ", BASE).replace("\\\n", " "))
        assert words[:2] == ["curl", "-s"]
        assert "{" not in text.splitlines()[0], "a place of the path is not filled in"
        assert (words[words.index("-X") + 1] if "-X" in words else "GET") == method
        headers = [words[place + 1] for place, word in enumerate(words) if word == "-H"]
        assert headers[0] == "Authorization: Bearer $TOKEN"
        (address,) = (word for word in words if word.startswith(BASE))
        parts = urlsplit(address)
        try:
            rule, _ = adapter.match(parts.path, method=method, return_rule=True)
        except HTTPException:
            pytest.fail(f"{method} {parts.path} is no call")
        assert rule.endpoint == f"api.{id}", path
        needed = [
            one["name"] for one in said.get("parameters", ()) if one["in"] == "query" and one["required"]
        ]
        assert [pair.split("=")[0] for pair in parts.query.split("&") if pair] == needed
        if "-d" in words:
            assert headers[1] == "Content-Type: application/json"
            sent[id].append(json.loads(words[words.index("-d") + 1]))
        elif "--data-binary" in words:
            kind = headers[1].removeprefix("Content-Type: ")
            assert kind in said["requestBody"]["content"]
            assert words[words.index("--data-binary") + 1] == FILES[kind]
        else:
            sent[id].append(None)
    for id, (_, _, said) in known.items():
        body = said.get("requestBody", {}).get("content", {}).get("application/json", {})
        assert sent[id] == [one["value"] for one in body.get("examples", {}).values()] or [None], id


def test_the_first_command_says_where(app: Any) -> None:
    elsewhere = PageParser(app.test_client().get("/api/v1/docs", base_url="https://queue.example.org").text)
    assert elsewhere.commands[0][1].splitlines()[0] == "export LEASEQ=https://queue.example.org/api/v1"
