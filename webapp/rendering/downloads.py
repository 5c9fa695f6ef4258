"""Responses that are sent bit by bit: downloads and event streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from flask import Response, request, stream_with_context

import leaseq
from leaseq import transfer, validation
from leaseq.transfer import rfc3339
from leaseq.webapp.context import person, state
from leaseq.webapp.realtime.poller import RETRY_MS, AccessCheck, Channel, Stream, Watcher
from leaseq.webapp.security.authorization import request_check
from leaseq.webapp.serving.capacity import on_disconnect
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.base import reader_of

PIECES_PER_CHECK = 100
"""After so many pieces, mostly rows, it is checked that the person may still have them."""


def download(pieces: Iterator[bytes], content_type: str, filename: str) -> Response:
    """A response with these pieces; nothing more is sent once the person has lost access. ``filename`` is
    plain ASCII without quotes.

    The first piece is generated before the response begins, so that an unreachable server still causes an
    error. Raises TooManyOpen.
    """
    first_piece = next(pieces, b"")
    call, slots = state().open_calls.begin("exports", person().name), state().request_slots
    check, read = request_check(call.confirm), reader_of(state().client)

    def refuse_without_access() -> None:
        if not check.passes(read(check.reads)):
            raise Problem.of(403, "forbidden", "forbidden", what="lost")

    def body() -> Iterator[bytes]:
        if first_piece:
            yield first_piece
        for number, piece in enumerate(iter(next_piece, None), 1):
            if number % PIECES_PER_CHECK == 0:
                refuse_without_access()
            yield piece
        call.end()

    def next_piece() -> bytes | None:
        with slots.hold():
            piece = next(pieces, None)
            call.confirm()
        return piece

    try:
        refuse_without_access()  # the first piece may have taken long
    except BaseException:
        call.end()
        raise
    response = Response(stream_with_context(body()), content_type=content_type)
    response.call_on_close(call.end)
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def streamed_answers(
    queue: leaseq.Queue,
    format: transfer.Format,
    *,
    since: datetime | None,
    until: datetime | None,
    person: str | None,
    late: bool | None,
    with_late: bool,
    raw_cells: bool = False,
    bom: bool = False,
) -> Response:
    """The answers that match the filters; None: any. Raises Invalid with the field, and TooManyOpen."""
    answers = queue.answers(
        with_late=with_late,
        person=None if person is None else validation.person_name(person),
        since=since,
        until=until,
        late=late,
    )
    pieces = transfer.encode(answers, format, form=queue.policy.form, raw_cells=raw_cells, bom=bom)
    return download(iter(pieces), transfer.CONTENT_TYPES[format], f"{queue.name}.{format}")


def streamed_items(queue: leaseq.Queue, items: Iterator[leaseq.Item], format: transfer.Format) -> Response:
    """Items with their answers, each once. Raises Invalid, and TooManyOpen."""
    policy = queue.policy
    pieces = transfer.encode_items(
        _each_once(queue, items),
        format,
        max_attempts=policy.max_attempts,
        with_answers=True,
        form=policy.form,
    )
    return download(iter(pieces), transfer.CONTENT_TYPES[format], f"{queue.name}-items.{format}")


def _each_once(queue: leaseq.Queue, items: Iterator[leaseq.Item]) -> Iterator[leaseq.Item]:
    """Each item whole: a list has an item once for each answer that it needs, with only that answer."""
    seen_ids: set[str] = set()
    for item in items:
        if item.answers_needed == 1:
            yield item
        elif item.id not in seen_ids:
            seen_ids.add(item.id)
            with suppress(leaseq.ItemNotFound):  # it was removed just now
                yield queue.get(item.id)


def stream_events(channel: Channel, watch: Callable[[Stream, AccessCheck], Watcher]) -> Response:
    """A stream of the channel's messages to the watcher that ``watch`` creates, open while the caller has
    access. Raises TooManyOpen."""
    if request.method == "HEAD":
        return _stream_response(())
    poller, environ = state().poller, request.environ
    call = state().open_calls.begin("streams", person().name)
    stream, check = Stream(), request_check(call.confirm)

    def body() -> Iterator[bytes]:
        yield b"retry: %d\n\n" % RETRY_MS
        poller.watch(channel, watch(stream, check))
        with on_disconnect(environ, stream.end):
            yield from stream.events()

    def close() -> None:
        stream.end()
        call.end()

    response = _stream_response(body())
    response.call_on_close(close)
    return response


def with_time(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures with the server's time, so that browsers can correct for their own clock."""
    return {"now": rfc3339(datetime.now(UTC)), **figures}


def _stream_response(body: Iterator[bytes] | tuple[()]) -> Response:
    response = Response(body, mimetype="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"  # otherwise nginx would buffer it
    return response
