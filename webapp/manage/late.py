"""Late answers not used yet: the list, and the action that adopts them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, ItemNotFound
from leaseq.webapp.context import existing_queue, person
from leaseq.webapp.item_title import item_title, title_of
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.actions import RefusedItem, ids_in_words
from leaseq.webapp.manage.columns import payload_summary
from leaseq.webapp.rendering.late_answers import unused_answers
from leaseq.webapp.rendering.states import state_word
from leaseq.webapp.security.audit_log import log_change, skip_log
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.numbers import whole_number

MAX_SHOWN = 200
RECENT_PERIOD = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class AdoptableAnswer:
    """A late answer that can be adopted."""

    item: leaseq.Item
    answer: leaseq.Answer

    @property
    def key(self) -> str:
        return f"{self.answer.token} {self.item.id}"


@bp.get("/manage/<q>/late")
@needs("manager")
def late(q: str) -> str:
    return _list_page(existing_queue(q))


@bp.post("/manage/<q>/late")
@needs("manager")
def confirm_late(q: str) -> str | Response:
    """The confirmation: what would happen to each selected answer."""
    queue, keys = existing_queue(q), _chosen_keys()
    answers = [one for one in (_find_answer(queue, key) for key in keys) if one is not None]
    if not answers:
        flash(_("Select some late answers first.") if not keys else _("They no longer exist."))
        return redirect(_list_url(q), 303)
    repeated_items = {
        one.item.id: one.item for one in answers if sum(other.item.id == one.item.id for other in answers) > 1
    }
    return render_template(
        "manage/late_confirm.html",
        queue=queue,
        policy=queue.policy,
        chosen_answers=[(answer, adoption_effect(answer.item)) for answer in answers],
        repeated_titles=sorted(item_title(one.payload, one.id) for one in repeated_items.values())
        if queue.policy.answers == 1
        else (),
        payload_summary=payload_summary,
        period=_period(),
        back=_list_url(q),
    )


@bp.post("/manage/<q>/late/adopt")
@needs("manager")
def adopt_late(q: str) -> str | Response:
    queue = existing_queue(q)
    done_ids: list[str] = []
    refusals: list[RefusedItem] = []
    for key in _chosen_keys():
        token, id = _parts(key)
        try:
            queue.adopt(id, token, by=person().name)
            done_ids.append(id)
        except ItemNotFound:
            refusals.append(RefusedItem(id, id, _("it no longer exists")))
        except Invalid as error:
            refusals.append(RefusedItem(id, title_of(queue, id) or id, error.limit))
    if done_ids:
        log_change("item.adopted", queue.name, f"{len(done_ids)}: {ids_in_words(done_ids)}")
        flash(
            ngettext("%(num)s late answer is accepted.", "%(num)s late answers are accepted.", len(done_ids))
        )
    else:
        skip_log()
    return _list_page(queue, refusals) if refusals else redirect(_list_url(q), 303)


def _list_page(queue: leaseq.Queue, refusals: list[RefusedItem] | None = None) -> str:
    since = datetime.now(UTC) - RECENT_PERIOD if _period() else None
    answers = list(islice(_adoptable_answers(queue, since), MAX_SHOWN + 1))
    rows = sorted(answers[:MAX_SHOWN], key=lambda one: one.answer.finished_at, reverse=True)
    return render_template(
        "manage/late.html",
        queue=queue,
        policy=queue.policy,
        stats=queue.stats(),
        rows=[(row, _state_text(row)) for row in rows],
        has_more=len(answers) > MAX_SHOWN,
        payload_summary=payload_summary,
        period=_period(),
        refusals=refusals or (),
    )


def _adoptable_answers(queue: leaseq.Queue, since: datetime | None) -> Iterator[AdoptableAnswer]:
    for item in queue.late_items(since):
        for answer in unused_answers(item):
            if since is None or answer.finished_at >= since:
                yield AdoptableAnswer(item, answer)


def _find_answer(queue: leaseq.Queue, key: str) -> AdoptableAnswer | None:
    token, id = _parts(key)
    try:
        item = queue.get(id)
    except ItemNotFound:
        return None
    return next(
        (AdoptableAnswer(item, answer) for answer in item.late_answers if answer.token == token), None
    )


def _chosen_keys() -> list[str]:
    """The keys of the ticked answers, or of the one whose own button was pressed."""
    key = request.form.get("only")
    keys = [key] if key else list(dict.fromkeys(request.form.getlist("id")))
    if len(keys) > MAX_SHOWN:
        raise Invalid("id", f"at most {MAX_SHOWN} late answers at once")
    return keys


def _parts(key: str) -> tuple[int, str]:
    text, _space, id = key.partition(" ")
    token = whole_number(text)
    if token is None:
        raise Invalid("id", "a late answer's token, a space and its item's id")
    return token, id


def _period() -> str:
    return "hour" if request.values.get("last") == "hour" else ""


def _list_url(q: str) -> str:
    return url_for("manage.late", q=q, last=_period() or None)


def _state_text(late_answer: AdoptableAnswer) -> str:
    """The current state of the answer's item, in words."""
    item = late_answer.item
    words: dict[str, str] = {
        "inbound": state_word("inbound"),
        "reserved": _("held by %(people)s", people=_people(item.leases)),
        "scheduled": state_word("scheduled"),
        "finished": _("answered by %(people)s", people=_people(item.answers)),
        "dead": state_word("dead"),
    }
    return words[item.state]


def adoption_effect(item: leaseq.Item) -> str:
    """The effect of adopting a late answer of the item, in words."""
    words: str = _("This finishes the item, and nobody else gets it.")
    if item.answers_needed > 1:
        words = _(
            "It becomes one of the item's answers: an additional one if an answer is still missing, "
            "otherwise it replaces one."
        )
    elif item.answers:
        words = _(
            "It replaces the answer from %(people)s, which becomes a late answer: you can restore that in "
            "the same way.",
            people=_people(item.answers),
        )
    elif item.leases:
        words = _("This finishes the item and takes it from %(people)s.", people=_people(item.leases))
    return words


def _people(records: tuple[leaseq.Answer, ...] | tuple[leaseq.Grant, ...]) -> str:
    return ", ".join(one.person for one in records)
