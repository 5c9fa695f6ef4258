"""Conversations in payloads, in the shapes in which programs export them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from flask_babel import gettext as _

from leaseq import Json
from leaseq.webapp.rendering.payload import Part
from leaseq.webapp.rendering.values import date_text
from leaseq.webapp.serving.time_slices import in_slices

Side: TypeAlias = Literal["them", "us", "note"]

LONGEST_AUTHOR = 80  # characters
_AUTHORS = ("role", "from", "author", "name", "sender", "type", "author_id")
_CONTENTS = ("content", "text", "body", "message", "value")
_TIMES = ("at", "created_at", "timestamp", "time", "date", "ts")
_SIDES: dict[str, Side] = {
    **dict.fromkeys(("assistant", "ai", "agent", "bot", "model", "support", "operator"), "us"),
    **dict.fromkeys(("system", "developer", "tool", "function"), "note"),
}


@dataclass(frozen=True, slots=True)
class Message:
    author: str
    side: Side
    at: str  # a time in words; "" if it is unknown
    parts: tuple[Part, ...]  # of the kinds text, image, code and json


def messages_of(value: Json) -> list[Message] | None:
    """The messages of a conversation; None if this is none.

    A message is an object: ``{role|from|author, content|text|body, at|created_at}``, as of OpenAI, also with
    a list of parts and with calls of tools, of LangChain (``{type, data}``) or of Zendesk. Anything else in
    the list is shown as JSON. The list may be the member ``messages`` of an object.
    """
    if isinstance(value, dict):
        value = value.get("messages", value.get("comments"))
    if not isinstance(value, list) or not any(isinstance(message, dict) for message in value):
        return None
    return [_message(message) for message in in_slices(value)]


def _message(value: Json) -> Message:
    if not isinstance(value, dict):
        return Message("", "note", "", (_part(value),))
    data = {**value, **value["data"]} if isinstance(value.get("data"), dict) else value
    author = _author(data)
    content = next((data[name] for name in _CONTENTS if data.get(name) not in (None, "")), None)
    parts = tuple(_content_parts(content)) + tuple(_calls(data.get("tool_calls")))
    at = next((text for name in _TIMES if (text := date_text(data.get(name)))), "")
    return Message(_author_word(author), _SIDES.get(author.lower(), "them"), at, parts)


def _author(data: dict[str, Any]) -> str:
    """The first name that the message has; an object's own name."""
    for name in _AUTHORS:
        author = data.get(name)
        if isinstance(author, dict):
            author = author.get("name") or author.get("role") or author.get("email")
        if isinstance(author, str | int) and not isinstance(author, bool) and author != "":
            return str(author)
    return ""


def _author_word(author: str) -> str:
    words = {
        "user": _("User"),
        "human": _("User"),
        "customer": _("Customer"),
        "agent": _("Agent"),
        "assistant": _("Assistant"),
        "ai": _("Assistant"),
        "system": _("System"),
        "tool": _("Tool"),
    }
    return words.get(author.lower()) or _shortened(author)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_AUTHOR else f"{name[:LONGEST_AUTHOR]}…"


def _content_parts(content: Json) -> Iterator[Part]:
    if content is None:
        return
    for value in in_slices(content if isinstance(content, list) else [content]):
        yield _part(value)


def _part(value: Json) -> Part:
    """A part of a message's content: its text or its picture, else its JSON."""
    if isinstance(value, dict):
        text = value.get("text")
        if isinstance(text, str):
            return Part("text", "", text)
        image = value.get("image_url", value.get("image"))
        link = image.get("url") if isinstance(image, dict) else image
        if isinstance(link, str):
            return Part("image", "", link)
    return Part("text", "", value) if isinstance(value, str) else Part("json", "", value)


def _calls(calls: Json) -> Iterator[Part]:
    """The calls of tools: of OpenAI with their arguments as text, of LangChain as an object."""
    for call in in_slices(calls if isinstance(calls, list) else ()):
        function = call.get("function", call) if isinstance(call, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str):
            yield Part("json", _("Call of a tool"), call)
            continue
        arguments = function.get("arguments", function.get("args"))
        yield Part("code", _("Call of %(name)s", name=_shortened(name)), arguments)
