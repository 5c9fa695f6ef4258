"""``--help`` matches the commands and the docs, and starting a command is cheap."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from leaseq.cli import main
from leaseq.policy import FIELDS

DOCS = Path(__file__).parents[2] / "docs" / "command-line.md"
POLICY = DOCS.with_name("policy.md")


def walk_commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group, info_name="leaseq")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from walk_commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(walk_commands(main))


@pytest.mark.parametrize("path", COMMANDS)
def test_each_command_has_help_with_an_example(path: str) -> None:
    result = CliRunner().invoke(main, [*path.split(), "--help"], prog_name="leaseq", terminal_width=200)
    assert result.exit_code == 0
    assert re.search(rf"Example: .*leaseq {path}\b", result.output)
    assert COMMANDS[path].help


def test_each_command_is_listed_with_summary() -> None:
    output = CliRunner().invoke(main, ["--help"], prog_name="leaseq", terminal_width=200).output
    summaries = dict(re.findall(r"^  ([a-z]+)  +(\S.*)$", output.partition("Commands:")[2], re.MULTILINE))
    assert sorted(summaries) == main.list_commands(click.Context(main))
    assert all(summaries.values())


@pytest.mark.parametrize("path", COMMANDS)
def test_the_docs_name_each_command_and_option(path: str) -> None:
    text = DOCS.read_text()
    section = re.search(rf"^##+ `leaseq {path}[ `].*?(?=^## |^### |\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, f"docs/command-line.md has no section `leaseq {path}`"
    shared_text = text[: text.index("\n## ")]
    policy_text = POLICY.read_text() if "policy options" in section[0] else ""
    for option in COMMANDS[path].params:
        if isinstance(option, click.Option):
            for name in (*option.opts, *option.secondary_opts):
                assert f"`{name}" in section[0] + shared_text + policy_text, f"{path}: {name}"
    assert f"leaseq {path}" in section[0].split("```")[1], f"{path}: no example"


def test_docs_name_no_unknown_option() -> None:
    option_names = {
        name
        for command in COMMANDS.values()
        for option in command.params
        for name in (*option.opts, *option.secondary_opts)
    }
    documented_names = set(re.findall(r"`(--[a-z-]+)", DOCS.read_text() + POLICY.read_text()))
    assert documented_names - option_names == {"--help", "--version"}


@pytest.mark.parametrize("path", ["queue create", "queue set"])
def test_each_policy_field_is_an_option_with_its_help_and_its_limits(path: str) -> None:
    options = {option.name: option for option in COMMANDS[path].params if isinstance(option, click.Option)}
    for name, field in FIELDS.items():
        help_text = options[name].help or ""
        assert help_text.startswith(field.help), name
        assert field.kind.limits in help_text, name
        assert ("none: " in help_text) is bool(field.none), name


def test_help_names_default_of_each_policy_field_of_new_queue() -> None:
    """`queue set` changes only what is given, so there a default would mislead."""
    helps = {option.name: getattr(option, "help", None) or "" for option in COMMANDS["queue create"].params}
    texts = {name: helps[name].rpartition("[default: ")[2].rstrip("]") for name in FIELDS}
    assert texts["lease_seconds"] == "300"
    assert texts["bands"] == "50 150"
    assert texts["keep_finished_seconds"] == "none"
    assert texts["share_drafts"] == "--no-share-drafts"
    assert texts["title"] == "empty"
    assert all(texts.values())
    for option in COMMANDS["queue set"].params:
        assert "[default" not in (getattr(option, "help", None) or "")


@pytest.mark.parametrize(
    ("word", "meant"), [("stat", "stats"), ("imports", "import"), ("user", None), ("xyzzy", None)]
)
def test_misspelt_command_suggests_known_one(word: str, meant: str | None) -> None:
    result = CliRunner().invoke(main, [word], prog_name="leaseq")
    assert result.exit_code == 2
    assert ("did you mean" in result.output) is (meant is not None)
    assert meant is None or f"did you mean {meant}?" in result.output


def test_help_imports_no_slow_modules() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from leaseq.cli import main;"
        "CliRunner().invoke(main, ['--help']);"
        "print([m for m in ('redis', 'rich', 'flask', 'pydantic', 'jsonschema_rs') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_command_with_missing_package_names_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    entry_point = EntryPoint("up", "no_such_package.up:up", "leaseq.commands")
    monkeypatch.setattr(
        "leaseq.cli.entry_points", lambda group: [entry_point] if group == "leaseq.commands" else []
    )
    result = CliRunner().invoke(main, ["up"], prog_name="leaseq")
    assert result.exit_code == 1
    message = "leaseq: `leaseq up` needs the web parts, and no_such_package is not installed: "
    assert result.stderr == f"{message}pip install 'leaseq[web]'\n"
