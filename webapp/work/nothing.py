"""The work page without an item: why there is none, and the wait for the next one."""

from __future__ import annotations

from functools import reduce

from babel.lists import format_list
from flask import render_template
from flask_babel import get_locale
from flask_babel import gettext as _

import leaseq
from leaseq.webapp.context import existing_queue, person, state
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.work import bp
from leaseq.webapp.work.queue_lines import waiting_elsewhere

MAX_NAMED = 3


@bp.get("/q/<q>/why-nothing")
@needs("worker")
def why_nothing(q: str) -> str:
    """Why there is no item, as a fragment that the page's script reloads."""
    queue = existing_queue(q)
    return render_template("work/why_nothing.html", **_context(queue))


def nothing_page(queue: leaseq.Queue) -> str:
    return render_template("work/nothing.html", queue=queue, policy=queue.policy, **_context(queue))


def _context(queue: leaseq.Queue) -> dict[str, object]:
    caller = person()
    explanation = queue.why_nothing(caller.name, caller.skills)
    ineligibility = explanation.ineligibility
    only_passed = (
        ineligibility is not None
        and bool(ineligibility.passed)
        and not ineligibility.lacking
        and not ineligibility.assigned
    )
    ineligibility_text = describe_ineligibility(explanation)
    today = state().activity.today(caller.name, queue.name)
    return {
        "explanation": explanation,
        "stats": queue.stats(),
        "ineligibility_text": ineligibility_text,
        "only_passed": only_passed,
        "today": today.finished,
        "other_lines": waiting_elsewhere(queue.name) if explanation.reason else [],
    }


def describe_ineligibility(explanation: leaseq.WhyNothing) -> str:
    """How what waits is not for them: the end of a sentence that begins with *What waits*."""
    if explanation.ineligibility is None:
        return ""
    skill_lists = [
        format_list(skills, locale=get_locale()) for skills in explanation.ineligibility.lacking[:MAX_NAMED]
    ]
    reasons = [_("needs %(skills)s", skills=_join_or(skill_lists))] if skill_lists else []
    if explanation.ineligibility.assigned:
        reasons.append(_("is assigned to somebody else"))
    if explanation.ineligibility.passed:
        reasons.append(_("is one that you have answered or passed on"))
    return _join_or(reasons)


def _join_or(texts: list[str]) -> str:
    return reduce(lambda this, that: _("%(this)s, or %(that)s", this=this, that=that), texts) if texts else ""
