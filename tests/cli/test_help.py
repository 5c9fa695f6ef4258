"""What ``--help`` promises, what the docs say of it, and what starting costs."""

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


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group, info_name="leaseq")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


ALL = dict(commands(main))


@pytest.mark.parametrize("path", ALL)
def test_each_command_has_help_with_an_example(path: str) -> None:
    result = CliRunner().invoke(main, [*path.split(), "--help"], prog_name="leaseq", terminal_width=200)
    assert result.exit_code == 0
    assert re.search(rf"Example: .*leaseq {path}\b", result.output)
    assert ALL[path].help


def test_each_command_is_listed_with_what_it_is_for() -> None:
    output = CliRunner().invoke(main, ["--help"], prog_name="leaseq", terminal_width=200).output
    listed = dict(re.findall(r"^  ([a-z]+)  +(\S.*)$", output.partition("Commands:")[2], re.MULTILINE))
    assert sorted(listed) == main.list_commands(click.Context(main))
    assert all(listed.values())


@pytest.mark.parametrize("path", ALL)
def test_the_docs_name_each_command_and_option(path: str) -> None:
    text = DOCS.read_text()
    section = re.search(rf"^##+ `leaseq {path}[ `].*?(?=^## |^### |\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, f"docs/command-line.md has no section `leaseq {path}`"
    shared = text[: text.index("\n## ")]
    policy = POLICY.read_text() if "policy options" in section[0] else ""
    for option in ALL[path].params:
        if isinstance(option, click.Option):
            for name in (*option.opts, *option.secondary_opts):
                assert f"`{name}" in section[0] + shared + policy, f"{path}: {name}"
    assert f"leaseq {path}" in section[0].split("```")[1], f"{path}: no example"


def test_the_docs_name_no_option_that_is_not_there() -> None:
    there = {
        name
        for command in ALL.values()
        for option in command.params
        for name in (*option.opts, *option.secondary_opts)
    }
    named = set(re.findall(r"`(--[a-z-]+)", DOCS.read_text() + POLICY.read_text()))
    assert named - there == {"--help", "--version"}


@pytest.mark.parametrize("path", ["queue create", "queue set"])
def test_each_policy_field_is_an_option_with_its_help_and_its_limits(path: str) -> None:
    options = {option.name: option for option in ALL[path].params if isinstance(option, click.Option)}
    for name, field in FIELDS.items():
        said = options[name].help or ""
        assert said.startswith(field.about.help), name
        assert field.kind.limits in said, name
        assert ("none: " in said) is bool(field.about.none), name


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from leaseq.cli import main;"
        "CliRunner().invoke(main, ['--help']);"
        "print([m for m in ('redis', 'rich', 'flask', 'pydantic', 'jsonschema_rs') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_a_command_whose_parts_are_not_installed_says_so_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = EntryPoint("up", "no_such_package.up:up", "leaseq.commands")
    monkeypatch.setattr(
        "leaseq.cli.group.entry_points", lambda group: [missing] if group == "leaseq.commands" else []
    )
    result = CliRunner().invoke(main, ["up"], prog_name="leaseq")
    assert result.exit_code == 1
    said = "leaseq: `leaseq up` needs the web parts, and no_such_package is not installed: "
    assert result.stderr == f"{said}pip install 'leaseq[web]'\n"
