"""The texts of one rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True, slots=True)
class Rule:
    """The texts of a rule: *expected …, got …: advice*. Of several texts for ``got`` or ``advice``, the first
    is used whose values an error has, and none if it has no such values. A ``sentence``, if there is one,
    stands for the three, without the name of the field."""

    expected: str = ""
    got: str | tuple[str, ...] = "%(value)s"
    advice: str | tuple[str, ...] = ""
    sentence: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts, to translate."""
        return tuple(filter(None, (self.expected, self.sentence, *_all(self.got), *_all(self.advice))))

    def got_of(self, values: Mapping[str, Any]) -> str:
        """The text for what came; empty without its values."""
        return _first(self.got, values)

    def advice_of(self, values: Mapping[str, Any]) -> str:
        """The text for what to do; empty without its values."""
        return _first(self.advice, {name for name, value in values.items() if value is not None})


@lru_cache(maxsize=1024)
def placeholders(text: str) -> frozenset[str]:
    """The names of the values that a text contains."""
    return frozenset(_PLACEHOLDER.findall(text))


def _all(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else texts


def _first(texts: str | tuple[str, ...], names: Iterable[str]) -> str:
    return next((text for text in _all(texts) if placeholders(text) <= set(names)), "")
