"""The managers' pages for webhooks: the endpoints, and the deliveries to each."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from leaseq import Invalid, ItemNotFound, QueueNotFound, webhooks
from leaseq.webapp.context import person, queue_names, queue_titles
from leaseq.webapp.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import webhooks as service
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.site_time import filter_time
from leaseq.webapp.store.accounts.model import at_least

bp = Blueprint("webhooks", "leaseq.webapp.webhooks")
SHOWN = 50  # deliveries


@bp.get("/webhooks")
@needs("manager", all_queues=True)
def index() -> str:
    return index_page()


@bp.post("/webhooks")
@needs("manager", all_queues=True)
def add() -> str | tuple[str, int]:
    """Add an endpoint, and show its secret, this once."""
    form = request.form
    try:
        new_secret = service.add(form.get("url", "").strip(), form.getlist("event"), form.getlist("queue"))
    except Invalid as error:
        message = _("Choose at least one kind of event.") if error.field == "events" else in_words(error)
        return index_page(message, error.field), 400
    except (Problem, QueueNotFound) as error:
        return index_page(in_words(error)), 400
    return endpoint_page(new_secret.endpoint, secret=new_secret.secret)


@bp.get("/webhooks/<webhook>")
@needs("manager", all_queues=True)
def detail(webhook: str) -> str:
    return endpoint_page(service.endpoints().get(webhook))


def index_page(error: str | None = None, error_field: str = "") -> str:
    """The page of all endpoints. ``error`` and ``error_field``: why an endpoint could not be added, and the
    field to correct."""
    is_admin = at_least(person().role, "admin")
    types = [name for name in webhooks.TYPES if is_admin or not name.startswith("person.")]
    events = request.form.getlist("event") if error else ["item.finished"]
    endpoints, names = service.endpoints().all(), queue_names()
    return render_template(
        "webhooks/index.html",
        endpoints=endpoints,
        titles=queue_titles(dict.fromkeys([*names, *(name for each in endpoints for name in each.queues)])),
        types=types,
        queue_names=names,
        chosen_events=events,
        error=error,
        error_field=error_field,
        form_values=request.form,
    )


def endpoint_page(
    endpoint: webhooks.Endpoint,
    *,
    secret: str | None = None,
    test_delivery: webhooks.Delivery | None = None,
    error: str | None = None,
) -> str:
    """The page of an endpoint and its latest deliveries. ``secret``: a new one, ``test_delivery``: a test's
    result."""
    return render_template(
        "webhooks/endpoint.html",
        endpoint=endpoint,
        titles=queue_titles(endpoint.queues),
        deliveries=service.deliveries().log(endpoint.id, SHOWN),
        secret=secret,
        test_delivery=test_delivery,
        error=error,
        max_deliveries=SHOWN,
    )


def _here(webhook: str) -> Response:
    return redirect(url_for("webhooks.detail", webhook=webhook), 303)


@bp.post("/webhooks/<webhook>/test")
@needs("manager", all_queues=True)
def test(webhook: str) -> str:
    delivery = service.send_test(webhook)
    return endpoint_page(service.endpoints().get(webhook), test_delivery=delivery)


@bp.post("/webhooks/<webhook>/rotate")
@needs("manager", all_queues=True)
def rotate(webhook: str) -> str:
    new_secret = service.rotate(webhook)
    return endpoint_page(new_secret.endpoint, secret=new_secret.secret)


@bp.post("/webhooks/<webhook>/enable")
@needs("manager", all_queues=True)
def enable(webhook: str) -> Response:
    service.enable(webhook)
    flash(_("Enabled. Waiting deliveries are sent now."))
    return _here(webhook)


@bp.post("/webhooks/<webhook>/disable")
@needs("manager", all_queues=True)
def disable(webhook: str) -> Response:
    service.disable(webhook)
    flash(_("Disabled. Nothing is sent until you enable it."))
    return _here(webhook)


@bp.post("/webhooks/<webhook>/remove")
@needs("manager", all_queues=True)
def remove(webhook: str) -> Response:
    service.remove(webhook)
    flash(_("The endpoint is removed."))
    return redirect(url_for("webhooks.index"), 303)


@bp.post("/webhooks/<webhook>/replay")
@needs("manager", all_queues=True)
def replay(webhook: str) -> Response | tuple[str, int]:
    """Send deliveries again: one, the failed ones, or all since a time."""
    delivery, since = request.form.get("delivery") or None, request.form.get("since", "").strip()
    try:
        count = service.replay(
            webhook,
            delivery=delivery,
            since=filter_time(since, "since"),
            failed=request.form.get("failed") == "yes",
        )
    except (Invalid, ItemNotFound) as error:
        return endpoint_page(service.endpoints().get(webhook), error=in_words(error)), 400
    flash(ngettext("%(num)s delivery is sent again.", "%(num)s deliveries are sent again.", count))
    return _here(webhook)
