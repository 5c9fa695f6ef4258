"""Writes tests/quality/agreement.json: random answers, and what other implementations compute from them.

Needs krippendorff (alpha), scikit-learn (Cohen's kappa) and statsmodels (Fleiss' kappa), which leaseq itself
does not: install them in an environment of their own, and run ``python tools/agreement_fixtures.py``.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

LEVELS = ("nominal", "ordinal", "interval")
# Four people and twelve items: K. Krippendorff, *Computing Krippendorff's Alpha-Reliability*, 2011, part C.
PUBLISHED = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
FIXTURES = Path(__file__).parents[1] / "tests" / "quality" / "agreement.json"


def alphas(rows: list[list[int]]) -> dict[str, float]:
    width = max(map(len, rows))
    data = np.array([row + [np.nan] * (width - len(row)) for row in rows], dtype=float).T
    return {level: krippendorff.alpha(data, level_of_measurement=level) for level in LEVELS}


def random_rows(seed: int, sizes: tuple[int, ...], values: int, skill: float) -> list[list[int]]:
    chance = random.Random(seed)
    rows = []
    for _ in range(chance.randrange(5, 60)):
        truth = chance.randrange(values)
        rows.append(
            [
                truth if chance.random() < skill else chance.randrange(values)
                for _ in range(chance.choice(sizes))
            ]
        )
    return rows


def case(rows: list[list[int]]) -> dict[str, Any]:
    figures: dict[str, Any] = {"rows": rows, "alpha": alphas(rows)}
    sizes = {len(row) for row in rows}
    if sizes == {2}:
        figures["cohen"] = float(cohen_kappa_score(*zip(*rows, strict=True)))
    if len(sizes) == 1:
        values = sorted({value for row in rows for value in row})
        figures["fleiss"] = float(fleiss_kappa([[row.count(value) for value in values] for row in rows]))
    return figures


def main() -> None:
    people = [line.split() for line in PUBLISHED.split("\n") if line]
    published = [[int(value) for value in item if value != "."] for item in zip(*people, strict=True)]
    cases = [case(published)]
    for seed in range(24):
        sizes = [(2,), (3,), (5,), (1, 2, 3, 4)][seed % 4]
        rows = random_rows(seed, sizes, 2 + seed % 5, [0.5, 0.8, 0.97][seed % 3])
        if len({value for row in rows for value in row}) > 1:
            cases.append(case(rows))
    FIXTURES.write_text("[\n" + ",\n".join(json.dumps(one) for one in cases) + "\n]\n")


if __name__ == "__main__":
    main()
