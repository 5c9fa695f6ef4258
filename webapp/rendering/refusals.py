"""What a refused argument is told by on a page, in the page's language."""

from __future__ import annotations

from leaseq import Invalid


def in_words(refused: Invalid) -> str:
    return str(refused)
