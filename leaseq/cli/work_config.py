"""The configuration of a worker, a TOML file: its queues, their functions, and its options."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leaseq.cli.common import CommandMisused
from leaseq.cli.functions import load_function
from leaseq.suggestions import did_you_mean

_OPTIONS = ("person", "concurrency", "order", "skills", "grace")
_KEYS = ("queues", *_OPTIONS)
_QUEUE_KEYS = ("function", "by", "handlers", "retry")
_QUEUE = 'a "module:function", or a table with function, or with by and handlers, and with retry'


@dataclass(slots=True)
class WorkConfig:
    """The arguments of a `Worker`."""

    handlers: dict[str, Any] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)
    retry: dict[str, bool] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


class _File:
    """A configuration file, whose errors name the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def refuse(self, key: str, problem: str) -> CommandMisused:
        return CommandMisused(f"{self.path}: {key}: {problem}")

    def check_keys(
        self, prefix: str, table: Mapping[str, Any], allowed_keys: tuple[str, ...], hint: str = ""
    ) -> None:
        for key in table:
            if key not in allowed_keys:
                suggestion = did_you_mean(key, allowed_keys)
                limit = f"unknown key; allowed are {', '.join(allowed_keys)}"
                note = f"; {suggestion}" if suggestion else ""
                raise self.refuse(f"{prefix}{key}", limit + note + hint)

    def function(self, key: str, value: object) -> Callable[..., Any]:
        if not isinstance(value, str):
            raise self.refuse(key, 'must be a "module:function"')
        try:
            return load_function(value)
        except CommandMisused as error:
            raise self.refuse(key, error.message) from error


def read_config(path: Path) -> WorkConfig:
    """Read the configuration in a file. Raises CommandMisused with the file, the key and what is allowed."""
    file = _File(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandMisused(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CommandMisused(f"{path}: not UTF-8 text (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise CommandMisused(f"{path}: not TOML: {error}") from None
    file.check_keys("", document, _KEYS)
    config = WorkConfig(options={key: document[key] for key in _OPTIONS if key in document})
    queues = document.get("queues")
    if not isinstance(queues, dict) or not queues:
        raise file.refuse("queues", f"required: a table with a key for each queue, whose value is {_QUEUE}")
    for name, value in queues.items():
        if name in _OPTIONS and not isinstance(value, str | dict):
            limit = f"a key of the file, which belongs before [queues]; a queue's value is {_QUEUE}"
            raise file.refuse(f"queues.{name}", limit)
        _read_queue(file, config, name, value)
    return config


def _read_queue(file: _File, config: WorkConfig, name: str, value: object) -> None:
    key = f"queues.{name}"
    if isinstance(value, str):
        value = {"function": value}
    if not isinstance(value, dict):
        raise file.refuse(key, f"must be {_QUEUE}")
    hint = "; a queue's name that has a dot needs quotes"
    file.check_keys(f"{key}.", value, _QUEUE_KEYS, hint)
    if ("function" in value) == ("handlers" in value) or ("by" in value) != ("handlers" in value):
        raise file.refuse(key, f"must be {_QUEUE}; this has {', '.join(value) or 'nothing'}")
    if "function" in value:
        config.handlers[name] = file.function(f"{key}.function", value["function"])
    else:
        config.handlers[name] = _read_handlers(file, key, value)
        config.by[name] = value["by"]
    if "retry" in value:
        if not isinstance(value["retry"], bool):
            raise file.refuse(f"{key}.retry", f"must be true or false; this is {value['retry']!r}")
        config.retry[name] = value["retry"]


def _read_handlers(file: _File, key: str, value: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    if not isinstance(value["by"], str) or not value["by"]:
        raise file.refuse(f"{key}.by", "must be the name of a field of the payload")
    handlers = value["handlers"]
    if not isinstance(handlers, dict) or not handlers:
        limit = f'must be a table with a "module:function" for each value of {value["by"]!r}'
        raise file.refuse(f"{key}.handlers", limit)
    return {
        kind: file.function(f"{key}.handlers.{kind}", function_path)
        for kind, function_path in handlers.items()
    }
