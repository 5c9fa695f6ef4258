"""The functions of a worker: one per queue, or several, selected by a field of the payload."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from leaseq import validation
from leaseq.errors import Invalid
from leaseq.models import Json, Lease

Handler: TypeAlias = Callable[[Lease], Json | Awaitable[Json]]
"""A function, or a coroutine function, that takes a lease and returns the result."""

Handlers: TypeAlias = Mapping[str, Handler | Mapping[str, Handler]]

T = TypeVar("T", str, bool)
_EXCERPT = 60  # characters of a value in an error


class NoHandler(Exception):
    """The worker has no function for this item's payload."""


@dataclass(frozen=True, slots=True)
class QueueHandlers:
    """The handlers for the items of one queue."""

    handler: Handler | None = None  # for all items
    by: str = ""  # or the payload field whose value selects one of ``handlers``
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    retry: bool = True  # whether a failed item is tried again

    def choose(self, payload: Json) -> Handler:
        """The handler for an item with this payload. Raises NoHandler."""
        if self.handler is not None:
            return self.handler
        if not isinstance(payload, dict) or self.by not in payload:
            raise NoHandler(
                f"the payload has no field {_excerpt(self.by)}, which selects the handler; "
                f"{self._handler_list()}"
            )
        value = payload[self.by]
        handler = self.handlers.get(value) if isinstance(value, str) else None
        if handler is None:
            problem = (
                f"no handler for {_excerpt(value)}, the value of the payload's field {_excerpt(self.by)}"
            )
            raise NoHandler(f"{problem}; {self._handler_list()}")
        return handler

    def _handler_list(self) -> str:
        return "there are handlers for " + ", ".join(_excerpt(value) for value in self.handlers)


def _excerpt(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"


def checked_handlers(handlers: object, by: object, retry: object) -> dict[str, QueueHandlers]:
    """The handlers of each queue, by its name."""
    if not isinstance(handlers, Mapping) or not handlers:
        raise Invalid("handlers", "format", what="handlers")
    fields = {} if by is None else _per_queue(handlers, by, "by", str, "by_name")
    retries = _per_queue(handlers, retry, "retry", bool, "boolean")
    queues: dict[str, QueueHandlers] = {}
    for name, handler in handlers.items():
        validation.queue_name(name)
        is_retried = retries.get(name, True)
        if isinstance(handler, Mapping):
            queues[name] = QueueHandlers(None, *_by_value(name, handler, fields.get(name)), is_retried)
        elif not callable(handler):
            raise Invalid("handlers", "handler", what="callable", queue=name, kind=type(handler).__name__)
        elif isinstance(by, Mapping) and name in by:
            raise Invalid("by", "handler", what="by_one", queue=name)
        else:
            queues[name] = QueueHandlers(handler, retry=is_retried)
    if by is not None and not any(queue.by for queue in queues.values()):
        raise Invalid("by", "handler", what="by_unused")
    return queues


def _by_value(
    name: str, mapping: Mapping[object, object], field: str | None
) -> tuple[str, dict[str, Handler]]:
    if field is None:
        raise Invalid("by", "handler", what="by_required", queue=name)
    if not mapping:
        raise Invalid("handlers", "handler", what="none", queue=name)
    handlers: dict[str, Handler] = {}
    for value, handler in mapping.items():
        if not isinstance(value, str) or not callable(handler):
            raise Invalid(
                "handlers", "handler", what="values", name=field, queue=name, pair=f"{value!r}: {handler!r}"
            )
        handlers[value] = handler
    return field, handlers


def _per_queue(
    handlers: Mapping[str, object], setting: object, option: str, type: type[T], what: str
) -> dict[str, T]:
    """The setting of each queue: one value for all, or a mapping from queue names."""
    values: dict[str, T] = {}
    for name, value in (
        setting.items() if isinstance(setting, Mapping) else dict.fromkeys(handlers, setting).items()
    ):
        if name not in handlers:
            raise Invalid(option, "one_of", choices=list(handlers), value=name)
        if not isinstance(value, type) or value == "":
            raise Invalid(option, "format", what=what, value=value)
        values[name] = value
    return values
