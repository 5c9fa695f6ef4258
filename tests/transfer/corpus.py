"""A made-up corpus of short messages, ``label<TAB>raw text``, in which quotes are ordinary characters.

Public corpora look like this (the SMS Spam Collection has 5,574 such lines): written by a program that quotes
nothing, with text in which people use quotes anywhere.
"""

from __future__ import annotations

import random

HEADER = "label\ttext"
WORDS = (
    "ok",
    "so",
    "u",
    "know;",
    "it's",
    "at",
    "9...",
    "£1000",
    "=",
    "+44",
    "né",
    "老师",
    ":-)",
    "@home",
    "|x|",
)
# Ways to put quotes into a message.
SHAPES = (
    '"{0} {1}',  # opens and never closes
    '"{0}" {1}',  # text after the closing quote
    '"{0} {1}"',  # the whole message
    '"{0}" {1} "{2}"',  # begins and ends with a quote
    '{0} "{1}" {2}',
    '{0} {1}"',
    '{0} 6" {1}',
    '"',
    '""',
    '"""',
    '""{0}""',
    '"{0} ""{1}"" {2}"',  # as in CSV
    '"{0}""',
    '"{0}" ',
    ' "{0} {1}',
    "'{0}' \\\"{1}",
)


def messages(count: int, seed: int, *, plain: float = 0.85) -> list[str]:
    """Return ``count`` lines of the corpus, without their line ends."""
    rng = random.Random(seed)
    return [f"{rng.choice(('ham', 'spam'))}\t{_message(rng, plain)}" for _ in range(count)]


def _message(rng: random.Random, plain: float) -> str:
    parts = [" ".join(rng.choices(WORDS, k=rng.randint(1, 6))) for _ in range(3)]
    return " ".join(parts) if rng.random() < plain else rng.choice(SHAPES).format(*parts)


def table(lines: list[str], header: str = HEADER) -> bytes:
    return ("\n".join([header, *lines]) + "\n").encode()


def rows(lines: list[str]) -> list[dict[str, str]]:
    """Return the content of the lines, character for character."""
    return [dict(zip(("label", "text"), line.split("\t"), strict=True)) for line in lines]
