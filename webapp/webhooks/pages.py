"""The list of endpoints with the form for a new one, and the page of one endpoint."""

from __future__ import annotations

from flask import render_template, request
from flask_babel import gettext as _
from werkzeug.exceptions import Forbidden

import leaseq
from leaseq import Invalid, webhooks
from leaseq.webapp.context import person, queue_names, state
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.webhook_access import add_endpoint
from leaseq.webapp.store.accounts import at_least
from leaseq.webapp.webhooks import bp

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
        new_secret = add_endpoint(form.get("url", "").strip(), form.getlist("event"), form.getlist("queue"))
    except Invalid as error:
        message = _("Choose at least one kind of event.") if error.field == "events" else in_words(error)
        return index_page(message, error.field), 400
    except (Forbidden, leaseq.QueueNotFound) as error:
        return index_page(str(getattr(error, "description", error))), 400
    return endpoint_page(new_secret.endpoint, secret=new_secret.secret)


@bp.get("/webhooks/<webhook>")
@needs("manager", all_queues=True)
def detail(webhook: str) -> str:
    return endpoint_page(webhooks.Endpoints(state().client).get(webhook))


def index_page(error: str | None = None, error_field: str = "") -> str:
    """The page of all endpoints. ``error`` and ``error_field``: why an endpoint could not be added, and the
    field to correct."""
    is_admin = at_least(person().role, "admin")
    types = [name for name in webhooks.TYPES if is_admin or not name.startswith("person.")]
    events = request.form.getlist("event") if error else ["item.finished"]
    return render_template(
        "webhooks/index.html",
        endpoints=webhooks.Endpoints(state().client).all(),
        types=types,
        queue_names=queue_names(),
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
        deliveries=webhooks.Deliveries(state().client).log(endpoint.id, SHOWN),
        secret=secret,
        test_delivery=test_delivery,
        error=error,
        max_deliveries=SHOWN,
    )
