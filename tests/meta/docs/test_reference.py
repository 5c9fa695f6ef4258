"""The pages name the values, commands, options and settings that the code has, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click
import pytest
from babel.messages.pofile import read_po

import leaseq
from leaseq import form, webhooks
from leaseq.cli import main
from leaseq.models import AlertName, NothingReason
from leaseq.webapp.settings import Settings

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
TEST_SETTINGS = {"LEASEQ_SEED", "LEASEQ_SOAK_MINUTES"}


def section(page: str, title: str) -> str:
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    assert match, title
    return match[1]


def first_cells(text: str) -> list[str]:
    """The words in code in the first cells of a text's tables."""
    return [
        word
        for cell in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for word in re.findall(r"`(.+?)`", cell)
    ]


def test_queue_md_has_each_state() -> None:
    assert first_cells(section("queue.md", "States")) == list(leaseq.STATES)


def test_queue_md_has_each_reason() -> None:
    assert set(first_cells(section("queue.md", "Waiting for an item"))) == set(get_args(NothingReason))


def test_queue_md_has_each_alert() -> None:
    rules = first_cells(section("queue.md", "Alerts"))
    assert [rule.partition(">")[0] for rule in rules] == list(get_args(AlertName))
    leaseq.Policy(alerts=tuple(rules))


def test_queue_md_names_fields_of_the_policy() -> None:
    fields = set(leaseq.PolicyChanges.__annotations__)
    assert set(first_cells(section("queue.md", "Retention"))) <= fields


def test_durability_md_has_each_level() -> None:
    assert first_cells((DOCS / "durability.md").read_text())[1:] == list(get_args(leaseq.Durable))


def test_library_md_has_each_error() -> None:
    errors = {name for name in leaseq.__all__ if isinstance(getattr(leaseq, name), type)}
    errors = {name for name in errors if issubclass(getattr(leaseq, name), leaseq.LeaseqError)}
    assert errors - set(first_cells(section("library.md", "Errors"))) == {"LeaseqError"}


def test_forms_md_has_each_kind() -> None:
    kinds = first_cells(section("forms.md", "`show`: what people see"))
    assert sorted(kinds) == sorted(form.KINDS)


def test_webhooks_md_has_each_type() -> None:
    assert {*webhooks.TYPES, "webhook.test"} == set(first_cells(section("webhooks.md", "What is sent")))


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        yield " ".join((*path, name)), command


COMMANDS = dict(commands(main))


def shown_commands(page: Path) -> list[str]:
    """The calls of ``leaseq`` in a page's code, with their arguments."""
    text = page.read_text()
    blocks = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    lines = [
        line.removeprefix("$ ")
        for language, block in blocks
        for line in block.replace("\\\n", " ").splitlines()
        if language in ("", "sh") or (language == "console" and line.startswith("$ "))
    ]
    prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    code = [
        re.sub(r"\s# .*|\"[^\"]*\"", "", line).strip()
        for line in [*lines, *re.findall(r"`([^`\n]+)`", prose)]
    ]
    calls = [re.findall(r"(?:^|[/(]|[|&] |=\S* |\* )leaseq ([a-z].*)", line) for line in code]
    return [re.split(r" [|&;] |[);]", call)[0] for found in calls for call in found]


def test_pages_show_only_existing_commands_and_options() -> None:
    for page in PAGES:
        for call in shown_commands(page):
            words = call.split()
            names = [" ".join(words[:count]) for count in (2, 1)]
            name = next((name for name in names if name in COMMANDS or "|" in name), None)
            assert name is not None, (page, call)
            if "|" in name:  # such as `leaseq user add|list`
                continue
            options = {
                flag
                for parameter in COMMANDS[name].params
                for flag in (*parameter.opts, *parameter.secondary_opts)
            }
            given = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert given <= {*options, "--help"}, (page, call)


def test_pages_name_only_existing_settings() -> None:
    of_app = {f"LEASEQ_{name.upper()}" for name in Settings.model_fields}
    of_commands = {
        str(option.envvar)
        for command in COMMANDS.values()
        for option in command.params
        if isinstance(option, click.Option)
    }
    for page in PAGES:
        names = set(re.findall(r"\bLEASEQ_[A-Z_]+[A-Z]\b", page.read_text()))
        assert names <= of_app | of_commands | TEST_SETTINGS, page


def test_pages_name_only_existing_files() -> None:
    roots = "leaseq|webapp|lua|tests|tools|benchmarks|examples|docs|requirements"
    for page in PAGES:
        names = re.findall(rf"(?<![\w./-])(?:{roots})/[\w./-]*[\w/](?![\w/-]|\.?\*)", page.read_text())
        assert [name for name in names if not (ROOT / name).exists()] == [], page


def test_pages_name_only_existing_commands_of_dev() -> None:
    usage = (ROOT / "dev").read_text()
    for page in PAGES:
        for words in re.findall(r"\./dev (bench [a-z]+|[a-z]+)", page.read_text()):
            command = words if f"\n./dev {words} " in usage else words.partition(" ")[0]
            assert re.search(rf"^\./dev {command} ", usage, re.MULTILINE), (page, words)


@pytest.mark.parametrize("page", ["person.md", "manager.md", "tutorial.md", "how-to/erase-a-person.md"])
def test_texts_in_italics_are_on_the_web_pages(page: str) -> None:
    with (ROOT / "webapp/translations/de/LC_MESSAGES/messages.po").open("rb") as file:
        ids = [message.id for message in read_po(file)]
    texts = "\n".join(text if isinstance(text, str) else "\n".join(text) for text in ids)
    page_texts = re.sub(r"%\(\w+\)s", "…", texts).lower()
    prose = re.sub(
        r"^ *```.*?^ *```$|`[^`\n]*`", "", (DOCS / page).read_text(), flags=re.DOTALL | re.MULTILINE
    )
    labels = [" ".join(label.split()) for label in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", prose)]
    filled_in = r"\d+|needs \w+"
    assert [
        label for label in labels if re.sub(filled_in, "…", label).lower().strip(".") not in page_texts
    ] == []
