"""Which tests run a line, in a small tree made for this."""

from __future__ import annotations

import pytest

from tests.meta.mutants import line_coverage
from tests.meta.mutants.line_coverage import Coverage

PRODUCT = """\
LIMIT = 3


def half(number):
    if number > LIMIT:
        return number / 2

    return number


def double(number):
    return number * 2
"""
TESTS = """\
import pytest
from leaseq import product


@pytest.mark.parametrize("number", [6, 8])
def test_large(number):
    assert product.half(number)


def test_small():
    assert product.half(1) == 2, "fails, and runs its lines all the same"


@pytest.fixture(scope="module")
def shared():
    return product.double(1)


def test_shared(shared):
    assert shared == 2
"""
LARGE, SMALL = "tests/test_some.py::test_large", "tests/test_some.py::test_small"


@pytest.fixture(scope="module")
def coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    tree = tmp_path_factory.mktemp("tree")
    for folder in ("leaseq", "webapp", "tests"):
        (tree / folder).mkdir()
    (tree / "leaseq" / "__init__.py").touch()
    (tree / "leaseq" / "product.py").write_text(PRODUCT)
    (tree / "tests" / "test_some.py").write_text(TESTS)
    return line_coverage.measure(tree, ["tests/test_some.py"])


@pytest.mark.parametrize(
    ("line", "tests"),
    [
        pytest.param(5, {LARGE, SMALL}, id="both"),
        pytest.param(6, {LARGE}, id="one"),
        pytest.param(7, {LARGE}, id="no code: the line above it"),
        pytest.param(8, {SMALL}, id="the other"),
        pytest.param(1, set(), id="at import"),
    ],
)
def test_the_tests_that_run_a_line(coverage: Coverage, line: int, tests: set[str]) -> None:
    assert coverage.tests("leaseq/product.py", line) == tests


def test_a_line_that_a_fixture_runs(coverage: Coverage) -> None:
    assert coverage.runs_in_setup("leaseq/product.py", 12)
    assert not coverage.runs_in_setup("leaseq/product.py", 6)


def test_a_file_that_no_test_runs(coverage: Coverage) -> None:
    assert coverage.tests("leaseq/other.py", 1) == frozenset()
