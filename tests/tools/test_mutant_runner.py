"""Which failing tests count as having caught a change, in a small example tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import planted_faults
from tools.mutants.faults import FAULTS, Fault
from tools.mutants.runner import Result, Search, read_catchers, report_line

PRODUCT = "RIGHT = True\n"
CATCHES = "def test_catches():\n    import product\n    assert product.RIGHT\n"


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A tree without any change, and one with a fault. Their tests use no plugin."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    unchanged, changed = tmp_path / "unchanged", tmp_path / "changed"
    for tree, text in ((unchanged, PRODUCT), (changed, PRODUCT.replace("True", "False"))):
        (tree / "tests").mkdir(parents=True)
        (tree / "product.py").write_text(text)
        (tree / "conftest.py").write_text("def pytest_addoption(parser):\n    parser.addoption('--limit')\n")
    return unchanged, changed


def find_catcher(trees: tuple[Path, Path], text: str) -> str:
    for tree in trees:
        (tree / "tests" / "test_some.py").write_text(text)
    return Search(trees[0]).catcher(trees[1], [(["tests/test_some.py"], 60)])


def test_failure_caused_by_change_counts_as_catch(trees: tuple[Path, Path]) -> None:
    assert find_catcher(trees, CATCHES) == "tests/test_some.py::test_catches"


def test_passing_test_does_not_count_as_catch(trees: tuple[Path, Path]) -> None:
    assert find_catcher(trees, "def test_a():\n    pass\n") == ""


def test_open_file_after_last_test_is_no_failure(trees: tuple[Path, Path]) -> None:
    for tree in trees:
        (tree / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    leak = "class Leak:\n    def __init__(self):\n        self.file, self.me = open('product.py'), self\n\n\n"
    leak += "def test_a():\n    Leak()\n\n\n"
    assert find_catcher(trees, leak) == ""
    assert find_catcher(trees, leak + CATCHES) == "tests/test_some.py::test_catches"


def test_failure_in_unchanged_tree_does_not_count_as_catch(trees: tuple[Path, Path]) -> None:
    always = "def test_always_fails():\n    assert False\n\n\n"
    assert find_catcher(trees, always) == ""
    assert find_catcher(trees, always + CATCHES) == "tests/test_some.py::test_catches"


def test_failure_caused_by_other_tests_does_not_count_as_catch(trees: tuple[Path, Path]) -> None:
    order = "import os\n\n\ndef test_a():\n    os.environ['LEFT'] = '1'\n\n\n"
    order += "def test_b():\n    assert 'LEFT' not in os.environ\n\n\n"
    assert find_catcher(trees, order) == ""
    assert find_catcher(trees, order + CATCHES) == "tests/test_some.py::test_catches"


def test_missing_test_of_earlier_run_is_skipped(trees: tuple[Path, Path]) -> None:
    for tree in trees:
        (tree / "tests" / "test_some.py").write_text(CATCHES)
    stages = [(["tests/test_some.py::test_gone"], 60.0), (["tests/test_some.py"], 60.0)]
    assert Search(trees[0]).catcher(trees[1], stages) == "tests/test_some.py::test_catches"


def test_log_line_is_not_taken_for_failed_test(trees: tuple[Path, Path]) -> None:
    logs = CATCHES + "\n\ndef setup_function():\n    import logging\n    logging.error('tests/a.py::b - c')\n"
    assert find_catcher(trees, logs) == "tests/test_some.py::test_catches"


def test_node_id_with_brackets_in_parameter_is_parsed(trees: tuple[Path, Path]) -> None:
    text = "import pytest\nimport product\n\n\n@pytest.mark.parametrize('a', ['x - [y]'])\n"
    text += "def test_a(a):\n    assert product.RIGHT, 'wrong [z] - [z]'\n"
    assert find_catcher(trees, text) == "tests/test_some.py::test_a[x - [y]]"


def test_import_error_caused_by_change_counts_as_catch(trees: tuple[Path, Path]) -> None:
    fails = "import product\nassert product.RIGHT\n\n\ndef test_a():\n    pass\n"
    assert find_catcher(trees, fails) == "tests/test_some.py"
    (trees[1] / "conftest.py").write_text("import product\nassert product.RIGHT\n")
    assert find_catcher(trees, CATCHES) == "tests/test_some.py"


def test_import_error_in_unchanged_tree_does_not_count_as_catch(trees: tuple[Path, Path]) -> None:
    assert find_catcher(trees, "import nothing_of_that_name\n") == ""


def test_hypothesis_examples_are_removed_after_each_change(tmp_path: Path) -> None:
    (tmp_path / "product.py").write_text(PRODUCT)
    fault = Fault("a fault", "product.py", "RIGHT = False", ())
    with planted_faults.plant(tmp_path, fault):
        (tmp_path / ".hypothesis" / "examples").mkdir(parents=True)
    assert not (tmp_path / ".hypothesis").exists()


def test_catchers_are_read_from_log_of_earlier_run() -> None:
    caught_fault, survived_fault = FAULTS[:2]
    log = [
        report_line(Result(caught_fault, "tests/a.py::test_b[c: caught by d]", 0.5)),
        report_line(Result(survived_fault, "", 1_000.0)),
    ]
    assert read_catchers("\n".join(["12 mutants and 2 faults", *log])) == {
        caught_fault.id: "tests/a.py::test_b[c: caught by d]"
    }
