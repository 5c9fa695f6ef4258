"""Faults planted one at a time, in a copy of the tree: is each noticed by a test?

``python -m tests.mutants`` plants them; ``tests/meta/test_mutants.py`` keeps the list true to the code.
"""

from tests.mutants import ending, granting, keeping, library, managing, people, rest, server, transfer
from tests.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: tuple[Mutant, ...] = (
    *granting.MUTANTS,
    *ending.MUTANTS,
    *keeping.MUTANTS,
    *people.MUTANTS,
    *managing.MUTANTS,
    *server.MUTANTS,
    *library.MUTANTS,
    *transfer.MUTANTS,
    *rest.MUTANTS,
)
