"""Audit log of managers' changes to queues and items, on pages or by REST.

A view may log its change with ``log_change``; for all others, one entry is written from the route, the form
and the policy before and after, so that a new route is logged without further code.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from flask import Response, after_this_request, g, request
from flask_babel import gettext as _
from werkzeug.exceptions import HTTPException

import leaseq
from leaseq import LeaseqError, Policy
from leaseq.policy import FIELDS
from leaseq.policy_fields import Alerts, Bands, Boolean, Field, Form, Seconds
from leaseq.webapp.context import accounts, queue_of_request, this_app
from leaseq.webapp.forms.changes import form_changes
from leaseq.webapp.serving.bodies import JSON

SILENT = frozenset(
    {
        "api.enqueue",
        "manage.confirm_late",
        "manage.confirm_bulk",
        "manage.check_file",
        "manage.check_new_queue",
        "manage.choose_columns",
        "manage.run_bulk",
        "manage.unassign_person",
        "manage.preview_file",
        "manage.preview_new_queue",
        "manage.plan_import",
        "manage.plan_new_queue",
        "manage.preview_settings",
        "manage.remove_view",
        "manage.save_view",
        "manage.apply_template",
    }
)
"""Endpoints that this module doesn't log: adding items by REST is in the queue's journal, item by item; some
change nothing, or only the look of lists; a job of many requests logs its own beginning and end."""

CHANGES = {
    "create": "made",
    "save_settings": "set",
    "put_queue": "set",
    "pause": "paused",
    "resume": "resumed",
    "clear": "cleared",
    "import_file": "imported",
    "import_rows": "imported",
    "run_import": "imported",
    "revive": "revived",
    "revive_all": "revived",
    "release": "released",
    "assign": "assigned",
    "unassign": "unassigned",
    "change": "changed",
    "remove": "removed",
    "remove_all": "removed",
    "adopt": "adopted",
    "settle": "settled",
    "reopen": "reopened",
    "correct": "corrected",
    "simulate": "simulated",
    "stop_simulation": "simulation-stopped",
}
_LOGGED_FIELDS = ("reason", "person", "to", "error", "state", "token")
_LONG = 60
log = logging.getLogger(__name__)


def log_change(what: str, about: str, detail: str = "") -> None:
    """Log that the person of this request did ``what``, a ``kind.act``, to a person, a queue or an item."""
    g.change_logged = True
    accounts().log.write(g.person.name, what, about, detail)


def detail_changes(changes: leaseq.ItemChanges) -> None:
    """Add an item's new values to the entry of this request; for a payload, only that it changed."""
    g.item_changes = [
        name if name == "payload" else f"{name}: {_short(_plain(value)) or 'none'}"
        for name, value in sorted(changes.items())
    ]


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if value is None:
        return "none"
    return ", ".join(value) if isinstance(value, list | tuple) else value


def skip_log() -> None:
    """Leave this request out of the log: it changes nothing, or its change was logged the first time."""
    g.change_logged = True


def log_after_request() -> None:
    """Log this request, which may change something, unless its view logs it."""
    if request.endpoint in SILENT:
        return
    after_this_request(_log_request)
    queue = (request.view_args or {}).get("q")
    g.policy_before = None if _is_about_item() else _policy(queue)


def _log_request(response: Response) -> Response:
    if response.status_code < 400 and not g.get("change_logged"):
        names = request.view_args or {}
        change = (request.endpoint or "").partition(".")[2]
        kind = "item" if _is_about_item() else "queue"
        queue = names.get("q") or _request_fields().get("name", "")
        about = f"{queue} / {names['id']}" if kind == "item" else queue
        try:
            log_change(f"{kind}.{CHANGES.get(change, change)}", str(about), _detail())
        except LeaseqError:  # the change is done, and the response must say so
            log.warning("the log lacks %s by %s", change, g.person.name, exc_info=True)
    return response


def _is_about_item() -> bool:
    return request.url_rule is not None and "/items/<" in request.url_rule.rule


def _detail() -> str:
    values = _request_fields()
    parts = [f"{name}: {values[name]}" for name in _LOGGED_FIELDS if values.get(name)]
    ids = request.form.getlist("id")
    if ids:
        parts.append(_("%(n)s selected", n=len(ids)))
    return ", ".join(_changes() + parts + g.get("item_changes", []))


def _request_fields() -> dict[str, Any]:
    """The fields of the form or the JSON body; none if the body is an imported file."""
    if getattr(this_app().view_functions[str(request.endpoint)], "takes_any_size", False):
        return {}  # the file may have been read only in part, and the rest may not fit into memory
    try:
        return dict(request.get_json() if request.mimetype == JSON else request.form)
    except (LeaseqError, HTTPException):
        return {}  # an invalid body that the view did not read


def _changes() -> list[str]:
    before = g.get("policy_before")
    after = _policy((request.view_args or {}).get("q")) if before else None
    if before is None or after is None:
        return []
    return [
        _change(field, getattr(before, name), getattr(after, name))
        for name, field in FIELDS.items()
        if getattr(before, name) != getattr(after, name)
    ]


def _change(field: Field, before: Any, after: Any) -> str:
    """A change of a policy field, as the settings page names it and its values."""
    label = field.description.label
    if isinstance(field.kind, Form):
        return f"{label}: {'; '.join(form_changes(before, after))}"
    return f"{label}: {_value_text(field, before)} → {_value_text(field, after)}"


def _value_text(field: Field, value: Any) -> str:
    if value is None:
        return field.description.none or "none"
    match field.kind:
        case Boolean():
            return "on" if value else "off"
        case Seconds():
            return f"{value:g} s"
        case Bands() | Alerts():
            return " ".join(map(str, value)) or "none"
    return _short(value) or "empty"


def _policy(queue: str | None) -> Policy | None:
    try:
        return queue_of_request(queue).policy if queue else None
    except LeaseqError:
        return None  # an invalid queue name, or no server: the view reports it


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
