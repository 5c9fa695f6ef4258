"""The title of an item: the first words of its payload, or of a conversation in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import leaseq
from leaseq import Json

LONGEST = 60  # characters
_MAX_VALUES = 50  # fields of a payload
_LINKS = ("http://", "https://", "data:")
# **bold**, *emphasis* and `code` of Markdown, which a title shows as plain words.
_MARKED = re.compile(r"(?<![\w*`])(\*\*|\*|`)(?=[^\s*`])([^*`\n]*[^\s*`])\1(?![\w*`])")


def item_title(payload: Json, id: str) -> str:
    """The beginning of the payload's first text with several words, else of its first text, else the id.
    Links are ignored."""
    texts = [text for text in _texts(payload) if not text.startswith(_LINKS)]
    words = next((text for text in texts if " " in text), texts[0] if texts else id)
    return _shorten(words)


def is_titled_by(value: Json, title: str) -> bool:
    """Whether the title is the beginning of this value."""
    return isinstance(value, str) and value.strip() != "" and _shorten(_words(value)) == title


def title_of(queue: leaseq.Queue, id: str) -> str | None:
    """The title of a queue's item; None if the item no longer exists."""
    try:
        return item_title(queue.get(id).payload, id)
    except leaseq.ItemNotFound:
        return None


def _texts(payload: Json) -> Iterator[str]:
    values = (
        payload.values() if isinstance(payload, dict) else payload if isinstance(payload, list) else [payload]
    )
    for value, _ in zip(values, range(_MAX_VALUES), strict=False):
        text = _first_message(value) if isinstance(value, dict | list) else value
        if isinstance(text, str) and text.strip():
            yield _words(text)


def is_chat(value: Json) -> bool:
    """Whether this is certainly a conversation: a list of objects with ``role`` and ``content``."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(message, dict)
            and isinstance(message.get("role"), str)
            and isinstance(message.get("content", 0), str | list | None)
            for message in value
        )
    )


def _first_message(value: Json) -> Json:
    """The text of a message, or of a conversation's first one."""
    message = value[0] if isinstance(value, list) and value else value
    if not isinstance(message, dict) or not {"role", "from", "author"} & message.keys():
        return None
    return message.get("content", message.get("text", message.get("body")))


def _words(text: str) -> str:
    return " ".join(_MARKED.sub(r"\2", text[: 4 * LONGEST]).split())


def _shorten(text: str) -> str:
    """Cut the text, at the end of a word if one is near."""
    if len(text) <= LONGEST:
        return text
    beginning = text[:LONGEST]
    words = beginning.rpartition(" ")[0]
    return (words if len(words) > LONGEST // 2 else beginning).rstrip(" ,;:.-") + "…"
