"""Line coverage by test, in a small example tree."""

from __future__ import annotations

import pytest

from tools.mutants import line_coverage
from tools.mutants.line_coverage import Coverage

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
        pytest.param(5, {LARGE, SMALL}, id="two tests"),
        pytest.param(6, {LARGE}, id="first test"),
        pytest.param(7, {LARGE}, id="no code: statement above"),
        pytest.param(8, {SMALL}, id="second test"),
        pytest.param(1, set(), id="at import"),
    ],
)
def test_coverage_returns_tests_that_run_line(coverage: Coverage, line: int, tests: set[str]) -> None:
    assert coverage.tests("leaseq/product.py", line) == tests


def test_line_run_by_fixture_is_reported_as_setup(coverage: Coverage) -> None:
    assert coverage.runs_in_setup("leaseq/product.py", 12)
    assert not coverage.runs_in_setup("leaseq/product.py", 6)


def test_file_without_tests_has_no_covering_tests(coverage: Coverage) -> None:
    assert coverage.tests("leaseq/other.py", 1) == frozenset()
