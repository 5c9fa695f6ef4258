"""Filters of templates: times, numbers, states and names as words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

import nh3
from babel.dates import format_skeleton
from flask import Flask
from flask_babel import format_date, format_decimal, get_locale, gettext
from flask_babel import gettext as _
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

import leaseq
from leaseq import STATES, Item, Json
from leaseq.transfer import rfc3339
from leaseq.webapp.context import state, wants_fragment
from leaseq.webapp.files.keys import read_file
from leaseq.webapp.forms.choices import tree_of
from leaseq.webapp.forms.fields import layout_of
from leaseq.webapp.forms.parsing import file_in
from leaseq.webapp.forms.schema import limits_text
from leaseq.webapp.item_title import item_title
from leaseq.webapp.refusals import in_words, role_word
from leaseq.webapp.rendering.chat import messages_of
from leaseq.webapp.rendering.mail import mail_of
from leaseq.webapp.rendering.media import (
    loading_failure,
    media_link,
    media_refusal,
    picture_link,
    pictures_of,
    web_link,
)
from leaseq.webapp.rendering.texts import code_lines, difference_of, visible_marks
from leaseq.webapp.rendering.values import date_text, money_text
from leaseq.webapp.serving.time_slices import run_beside
from leaseq.webapp.site_time import is_valid_in, site_zone
from leaseq.webapp.store.accounts.passwords import MAX_PASSWORD, MIN_PASSWORD


def state_word(state: leaseq.State) -> str:
    words: dict[leaseq.State, str] = {
        "inbound": _("waiting"),
        "reserved": _("in work"),
        "scheduled": _("later"),
        "finished": _("done"),
        "dead": _("failed"),
    }
    return words[state]


def shown_name(name: str) -> str:
    """A person's name as pages show it."""
    return state().accounts.shown_names().get(name, name)


def event_words(name: str) -> str:
    """A type of webhook events, or a family such as ``item.*``, in words."""
    words = {
        "item.*": _("All of items"),
        "item.finished": _("Item finished"),
        "item.failed": _("Problem reported"),
        "item.dead": _("Item failed"),
        "item.cancelled": _("Item cancelled"),
        "item.expired": _("Item expired unanswered"),
        "item.late": _("Late answer"),
        "queue.*": _("All of queues"),
        "queue.empty": _("Queue empty"),
        "alert.*": _("All alerts"),
        "alert.raised": _("Alert raised"),
        "alert.resolved": _("Alert resolved"),
        "person.*": _("All of people"),
        "person.set-up": _("Account set up"),
        "person.added": _("Person added"),
        "person.joined": _("Person joined"),
        "person.changed": _("Person changed"),
        "person.disabled": _("Person disabled"),
        "person.enabled": _("Person enabled"),
        "person.removed": _("Person erased"),
        "webhook.*": _("All of webhooks"),
        "webhook.disabled": _("Webhook disabled"),
        "webhook.test": _("Test"),
    }
    return str(words.get(name, name))


def breakable(name: str) -> Markup:
    """A name that may break after each underscore: the only places in ``reason_for_the_customer``."""
    return escape(name).replace("_", Markup("_<wbr>"))


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_COUNTED = ("finished", "reopened", "corrected")
"""Outcomes of grants whose answer counts, or counted, as one of the item's."""


def unused_answers(item: leaseq.Item) -> list[leaseq.Answer]:
    """The late answers, except those that counted until a manager set them aside or replaced them."""
    counted_tokens = {grant.token for grant in item.history if grant.how in _COUNTED}
    return [answer for answer in item.late_answers if answer.token not in counted_tokens]


_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
MAX_MARKDOWN = 65_536  # bytes of UTF-8: rendering time may grow with their square
_SHORT_MARKDOWN = 2_000  # characters: they take at most 20 ms
_TAGS = nh3.ALLOWED_TAGS - {"img"}  # a picture would reveal to its host who reads the text, and when


def markdown(text: object) -> Markup:
    """Markdown as safe HTML: without scripts, pictures and raw HTML, cut at MAX_MARKDOWN."""
    data = str(text).encode("utf-8", "replace")
    html = rendered(data[:MAX_MARKDOWN].decode("utf-8", "ignore"))
    if len(data) <= MAX_MARKDOWN:
        return html
    size = format_decimal(MAX_MARKDOWN)
    notice = gettext("The rest is not shown: a page shows at most %(size)s bytes of a text.", size=size)
    return html + Markup("<p><strong>{}</strong></p>").format(notice)


@lru_cache(maxsize=64)
def rendered(text: str) -> Markup:
    """Rendered Markdown. Cached, since 64 kB can take seconds; 64 of the longest take about 20 MB."""
    render = _render if len(text) < _SHORT_MARKDOWN else partial(run_beside, _render)
    return Markup(render(text))  # noqa: S704  # nh3 sanitized it


def _render(text: str) -> str:
    return nh3.clean(_markdown.render(text), tags=_TAGS)


def with_returns(text: str) -> Markup:
    """A text with its carriage returns, which a browser would drop, so that its characters can be counted."""
    return escape(text).replace("\r", Markup("&#13;"))


def is_rows(value: Json) -> bool:
    """Whether the value is a list of objects, which is shown as a table."""
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def columns_of(rows: list[dict[str, Json]]) -> list[str]:
    """The distinct names of the rows' columns, in order of first occurrence."""
    return list(dict.fromkeys(name for row in rows for name in row))


def pretty(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def is_files(value: Json) -> bool:
    """Whether the value is a list of files, which is shown as a list of downloads."""
    return isinstance(value, list) and bool(value) and all(read_file(file) is not None for file in value)


def last_part(key: str) -> str:
    """The last part of a file's key, which its URL contains."""
    return key.rpartition("/")[2]


def byte_count(count: int) -> str:
    """A number of bytes in units of 1000: ``482.1 kB``. static/shared/questions/file-list.js writes the
    same."""
    if count < 1000:
        return f"{format_decimal(count)} B"
    if count < 999_950:
        return f"{format_decimal(round(count / 1000, 1))} kB"
    return f"{format_decimal(round(count / 1_000_000, 1))} MB"


def is_plain(value: Json) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def plain(value: Json) -> str:
    """A value other than a list or object, as text for people."""
    return (
        {None: "–", True: str(gettext("yes")), False: str(gettext("no"))}[value]
        if value is None or value is True or value is False
        else str(value)
    )


def time_until(until: str | None) -> str:
    """The duration until an RFC 3339 time."""
    return span(seconds_until(until)) if until else "–"


def seconds_until(until: str | None) -> float:
    """Like ``time_until``, in seconds; 0 for a time in the past."""
    if not until:
        return 0
    return max((datetime.fromisoformat(until) - datetime.now(UTC)).total_seconds(), 0)


def span(seconds: float | None) -> str:
    """A duration in its two largest units: ``4 min 12 s``, ``2 d 3 h``."""
    if seconds is None:
        return "–"
    remaining = max(int(seconds), 0)
    parts: list[tuple[int, str]] = []
    units = gettext("d"), gettext("h"), gettext("min"), gettext("s")
    for size, unit in zip((86_400, 3_600, 60, 1), units, strict=True):
        count, remaining = divmod(remaining, size)
        if count or parts or size == 1:
            parts.append((count, unit))
    visible_parts = [part for part in parts[:2] if part[0] or len(parts) == 1]
    return " ".join(f"{format_decimal(count)} {unit}" for count, unit in visible_parts)


def pace(seconds: float | None) -> str:
    """A measured duration: like `span`, but with tenths below ten seconds."""
    tenths = None if seconds is None else round(max(seconds, 0), 1)
    if tenths is None or tenths >= 10:
        return span(tenths)
    return f"{format_decimal(tenths)} {gettext('s')}"


def ago(at: str | None) -> str:
    """The duration since an RFC 3339 time."""
    return span((datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()) if at else "–"


def time_left(until: datetime) -> float:
    return max((until - datetime.now(UTC)).total_seconds(), 0)


def clock(time: datetime) -> str:
    """A time in the site's zone, with the date in the page's language, by the 24-hour clock."""
    at = time.astimezone(site_zone())
    return f"{format_date(at, rebase=False)}, {at:%H:%M:%S %Z}"


def short_time(time: datetime) -> str:
    """A time in the site's zone for a list: today the clock, else the day, with its year if it
    is another year."""
    at, now = time.astimezone(site_zone()), datetime.now(site_zone())
    if at.date() == now.date():
        return f"{at:%H:%M}"
    return format_skeleton("MMMd" if at.year == now.year else "yMMMd", at, locale=get_locale())


def local_clock(time: datetime) -> str:
    """A time's text until the page's script replaces it by a shorter one. In a fragment, which a script
    requested, nobody sees it, so there it is not localized, which would take long."""
    return f"{time.astimezone(site_zone()):%Y-%m-%d %H:%M %Z}" if wants_fragment() else clock(time)


def plain_clock(time: str) -> str:
    """An RFC 3339 text as a time in the site's zone."""
    return f"{datetime.fromisoformat(time).astimezone(site_zone()):%Y-%m-%d %H:%M:%S %Z}"


def has_several_lines(text: str) -> bool:
    """Whether a one-line input would take line breaks out of the text."""
    return "\n" in text or "\r" in text


def is_overdue(item: Item) -> bool:
    """Whether the due date is past and the item is still open."""
    return item.due is not None and item.state not in ("finished", "dead") and item.due < datetime.now(UTC)


def init_filters(app: Flask) -> None:
    filters: Iterable[Any] = (
        markdown, web_link, media_link, picture_link, is_rows, columns_of, layout_of, pretty,
        is_plain, plain, span, pace, time_left, local_clock, plain_clock, short_time, clock, role_word,
        in_words, rfc3339, limits_text, breakable, capital, event_words, item_title, state_word, pictures_of,
        media_refusal, messages_of, mail_of, difference_of, code_lines, visible_marks, money_text, date_text,
        shown_name, with_returns, tree_of, is_files, last_part, byte_count, file_in,
    )  # fmt: skip
    for filter in filters:
        app.jinja_env.filters[filter.__name__] = filter
    app.jinja_env.filters["number"] = format_decimal  # 1,204 or 1.204, by language
    app.jinja_env.globals |= {
        "ago": ago,
        "loading_failure": loading_failure,
        "max_password": MAX_PASSWORD,
        "min_password": MIN_PASSWORD,
        "seconds_until": seconds_until,
        "states": STATES,
        "time_until": time_until,
        "time_zone": lambda: state().settings.time_zone,
    }
    app.jinja_env.tests["is_plain_value"] = is_plain
    app.jinja_env.tests["valid_in"] = is_valid_in
    app.jinja_env.tests["several_lines"] = has_several_lines
    app.jinja_env.tests["overdue"] = is_overdue
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
