"""Links lead to files and headings that exist, docs/README.md leads to every page, and tables are whole."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
SOURCES = {".py", ".lua", ".html", ".js", ".yml", ".yaml", ".conf", ".toml", ".service", ".timer", ".json"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[tuple[Path, str]]:
    """The file and the heading of each link that does not leave the repository."""
    targets = [target for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)) if "://" not in target]
    parts = [target.partition("#") for target in targets]
    return [((page.parent / path).resolve() if path else page, heading) for path, _, heading in parts]


@cache
def anchors(page: Path) -> set[str]:
    """The addresses that GitHub gives to the headings of a page."""
    headings = (heading.lower() for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def test_links_lead_to_existing_files_and_headings() -> None:
    for page in PAGES:
        for path, heading in links(page):
            assert path.exists(), (page, path)
            assert not heading or path.suffix != ".md" or heading in anchors(path), (page, path, heading)


def test_index_leads_to_every_page() -> None:
    indexes = [DOCS / "README.md", DOCS / "decisions" / "README.md"]
    listed = {path for index in indexes for path, _ in links(index)}
    assert {page for page in DOCS.rglob("*.md") if page not in indexes} - listed == set()


def test_code_names_only_existing_pages() -> None:
    folders = ("leaseq", "webapp", "lua", "tests", "tools", "benchmarks", "examples", "docs")
    sources = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    code = [path for path in sources if path.suffix in SOURCES]
    names = {
        (str(path.relative_to(ROOT)), name)
        for path in code
        for name in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text())
    }
    assert {(path, name) for path, name in names if not (ROOT / name).exists()} == set()


def test_rows_of_a_table_have_a_cell_for_each_column() -> None:
    for page in PAGES:
        for table in re.findall(r"(?:^ *\|.*\n)+", prose(page), re.MULTILINE):
            head, *rows = table.splitlines()
            for row in rows:
                assert number_of_cells(row) == number_of_cells(head), (page, row)


def number_of_cells(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", row)) - 1
