"""A question for passages of a text."""

from __future__ import annotations

from typing import Any


def passages_of(path: str) -> dict[str, Any]:
    """The schema of a question for names and moods in the text at this place of the payload."""
    return {
        "title": "What matters?",
        "type": "array",
        "x-widget": "passages",
        "x-text": path,
        "items": {
            "type": "object",
            "required": ["start", "end", "label"],
            "additionalProperties": False,
            "properties": {
                "start": {"type": "integer", "minimum": 0},
                "end": {"type": "integer"},
                "label": {"enum": ["name", "mood"]},
                "text": {"type": "string"},
            },
        },
    }
