"""The guides of docs/ as pages: what a person can do, and for managers all that a manager can look up."""

from __future__ import annotations

import posixpath
import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from flask import Blueprint, Response, render_template, request, url_for
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from werkzeug.exceptions import NotFound

import leaseq
from leaseq.webapp.context import person
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.time_slices import run_beside
from leaseq.webapp.store.accounts.model import at_least

bp = Blueprint("guides", __name__, url_prefix="/help")
# In a checkout, `leaseq/docs` links to the folder next to the package.
_FOLDER = Path(str(files(leaseq) / "docs"))
_FOR_EVERYBODY = "person"
_FIRST = (
    _FOR_EVERYBODY,
    "manager",
    "forms",
    "how-to/import-and-export",
    "how-to/add-items",
    "how-to/choose-who-gets-an-item",
    "how-to/change-items",
    "how-to/get-several-answers",
    "how-to/correct-answers",
    "how-to/read-answers",
    "how-to/delete-items-and-queues",
    "how-to/erase-a-person",
    "how-to/sign-in-with-a-provider",
    "how-to/receive-webhooks",
)
"""What a manager looks up most, in this order; the other pages follow by title."""
_LEFT_OUT = ("README", "decisions/", "benchmarks", "reliability")
_HOW_TO = "how-to/"
_PICTURES = "images"

LONGEST = 200  # characters of a search
MAX_WORDS = 10
MAX_RESULTS = 30
_AROUND = 80  # characters before and after the first word in an excerpt
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a guide, with the text up to the next heading."""

    heading: str
    level: int  # 1: the guide's title
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Guide:
    """A page of docs/."""

    name: str  # its path without the suffix
    title: str
    html: Markup
    sections: Sequence[Section]

    @property
    def url(self) -> str:
        folder, _, name = self.name.rpartition("/")
        return url_for("guides.how_to" if folder else "guides.guide", name=name)

    @property
    def contents(self) -> list[Section]:
        return [section for section in self.sections if section.level == 2]


@dataclass(frozen=True, slots=True)
class Result:
    """A section that a search found. ``excerpt``: the text before, at and after the first word."""

    guide: Guide
    section: Section
    excerpt: tuple[str, str, str]


def guides() -> Sequence[Guide]:
    """The guides that the person may read."""
    everything = run_beside(_read_guides)
    if at_least(person().role, "manager"):
        return everything
    return [guide for guide in everything if guide.name == _FOR_EVERYBODY]


@lru_cache(maxsize=1)
def _read_guides() -> Sequence[Guide]:
    """All guides, rendered once: they don't change while the app runs."""
    names = sorted(
        name
        for path in _FOLDER.rglob("*.md")
        if not (name := str(path.relative_to(_FOLDER).with_suffix(""))).startswith(_LEFT_OUT)
    )
    read = [_guide(name, frozenset(names)) for name in names]
    return sorted(
        read,
        key=lambda guide: (
            _FIRST.index(guide.name) if guide.name in _FIRST else len(_FIRST),
            guide.title.casefold(),
        ),
    )


def _guide(name: str, names: frozenset[str]) -> Guide:
    tokens = _markdown.parse((_FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    sections = list(_sections(tokens))
    for token in tokens:
        _lead_to_pages(token.children or [], name, names)
    html = _markdown.renderer.render(tokens, _markdown.options, {})
    title = sections[0].heading if sections else name
    return Guide(name, title, Markup(html), sections)  # noqa: S704 - the texts are our own, without HTML


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    """The sections of a guide, whose headings get an id and a link to themselves."""
    heading, level, anchor = "", 0, ""
    texts: list[str] = []
    anchors: Counter[str] = Counter()
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            if level:
                yield Section(heading, level, anchor, " ".join(texts))
            inline, texts = tokens[position + 1], []
            heading, level = _plain_text(inline), int(token.tag[1:])
            anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")  # as GitHub spells it
            anchors[anchor] += 1
            anchor += f"-{anchors[anchor] - 1}" if anchors[anchor] > 1 else ""
            token.attrSet("id", anchor)
            opening = Token("link_open", "a", 1, attrs={"href": f"#{anchor}", "class": "heading-link"})
            inline.children = [opening, *(inline.children or []), Token("link_close", "a", -1)]
        elif token.type == "inline" and tokens[position - 1].type != "heading_open":
            texts.append(_plain_text(token))
        elif token.type == "fence":
            texts.append(token.content)
    if level:
        yield Section(heading, level, anchor, " ".join(texts))


def _plain_text(inline: Token) -> str:
    breaks = ("softbreak", "hardbreak")
    return "".join(" " if child.type in breaks else child.content for child in inline.children or [])


def _lead_to_pages(tokens: Sequence[Token], name: str, names: frozenset[str]) -> None:
    """Let links and pictures between files of docs/ lead to pages. A link to what is not here is text."""
    ends: list[bool] = []  # of the links that are open: whether each is one
    for token in tokens:
        if token.type == "link_open":
            href = str(token.attrGet("href") or "")
            path, _, anchor = href.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            is_here = target.removesuffix(".md") in names
            ends.append(not path or "://" in href or is_here)
            if path and is_here:
                token.attrSet("href", path.removesuffix(".md") + (f"#{anchor}" if anchor else ""))
            if not ends[-1]:
                token.tag, token.attrs = "span", {}
        elif token.type == "link_close" and not ends.pop():
            token.tag = "span"
        elif token.type == "image":
            _set_size(token, posixpath.dirname(name))


def _set_size(image: Token, folder: str) -> None:
    """Say how large a picture is, so that the text below it stays where it is when the picture arrives."""
    path = posixpath.normpath(posixpath.join(folder, str(image.attrs["src"])))
    file = _FOLDER / path
    if path.startswith(f"{_PICTURES}/") and file.is_file():
        width, height = struct.unpack(">II", file.read_bytes()[16:24])  # of PNG's first chunk
        image.attrSet("width", str(width))
        image.attrSet("height", str(height))


def find(query: str, among: Sequence[Guide]) -> list[Result]:
    """The sections that contain every word: those of the guides for pages first, and of these, those with the
    words in their heading."""
    words = query[:LONGEST].casefold().split()[:MAX_WORDS]
    if not words:
        return []
    found: list[tuple[bool, int, Result]] = []
    for guide in among:
        for section in guide.sections:
            heading = section.heading.casefold()
            text = f"{guide.title} {section.heading} {section.text}".casefold()
            if all(word in text for word in words):
                missing = sum(word not in heading for word in words)
                result = Result(guide, section, _excerpt(section.text, words))
                found.append((guide.name not in _FIRST, missing, result))
    return [result for *_, result in sorted(found, key=lambda row: row[:2])[:MAX_RESULTS]]


def _excerpt(text: str, words: Sequence[str]) -> tuple[str, str, str]:
    match = re.search("|".join(map(re.escape, words)), text, re.IGNORECASE)
    if match is None:
        return text[: 2 * _AROUND], "", "…" if len(text) > 2 * _AROUND else ""
    start, end = max(match.start() - _AROUND, 0), match.end() + _AROUND
    before, after = text[start : match.start()], text[match.end() : end]
    return ("…" if start else "") + before, match[0], after + ("…" if end < len(text) else "")


@bp.get("")
@needs("worker")
def index() -> str:
    """The guides, or the sections of them that contain what is searched for."""
    query, readable = request.args.get("q", "").strip()[:LONGEST], guides()
    first = [guide for guide in readable if guide.name in _FIRST]
    return render_template(
        "docs/help.html",
        query=query,
        results=find(query, readable),
        guides=first,
        others=[guide for guide in readable if guide not in first],
    )


@bp.get("/<name>")
@needs("worker")
def guide(name: str) -> str:
    return _page(name)


@bp.get("/how-to/<name>")
@needs("worker")
def how_to(name: str) -> str:
    return _page(f"{_HOW_TO}{name}")


def _page(name: str) -> str:
    readable = {guide.name: guide for guide in guides()}
    if name not in readable:
        raise NotFound
    return render_template("docs/guide.html", guide=readable[name])


@bp.get(f"/{_PICTURES}/<name>")
@needs("worker")
def picture(name: str) -> Response:
    path = next((path for path in (_FOLDER / _PICTURES).glob("*.png") if path.name == name), None)
    if path is None:
        raise NotFound
    return Response(path.read_bytes(), mimetype="image/png")
