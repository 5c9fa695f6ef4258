"""Actions on an endpoint: test, replay, rotate, disable, enable, remove."""

from __future__ import annotations

from flask import flash, redirect, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from leaseq import Invalid, ItemNotFound, webhooks
from leaseq.webapp.context import state
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.security import webhook_access as access
from leaseq.webapp.security.audit_log import log_change
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.site_time import filter_time
from leaseq.webapp.webhooks import bp
from leaseq.webapp.webhooks.pages import endpoint_page


def _here(webhook: str) -> Response:
    return redirect(url_for("webhooks.detail", webhook=webhook), 303)


@bp.post("/webhooks/<webhook>/test")
@needs("manager", all_queues=True)
def test(webhook: str) -> str:
    delivery = access.send_test(webhook)
    return endpoint_page(webhooks.Endpoints(state().client).get(webhook), test_delivery=delivery)


@bp.post("/webhooks/<webhook>/rotate")
@needs("manager", all_queues=True)
def rotate(webhook: str) -> str:
    new_secret = access.rotate_secret(webhook)
    return endpoint_page(new_secret.endpoint, secret=new_secret.secret)


@bp.post("/webhooks/<webhook>/enable")
@needs("manager", all_queues=True)
def enable(webhook: str) -> Response:
    access.enable_endpoint(webhook)
    flash(_("Enabled. Waiting deliveries are sent now."))
    return _here(webhook)


@bp.post("/webhooks/<webhook>/disable")
@needs("manager", all_queues=True)
def disable(webhook: str) -> Response:
    access.disable_endpoint(webhook)
    flash(_("Disabled. Nothing is sent until you enable it."))
    return _here(webhook)


@bp.post("/webhooks/<webhook>/remove")
@needs("manager", all_queues=True)
def remove(webhook: str) -> Response:
    access.remove_endpoint(webhook)
    flash(_("The endpoint is removed."))
    return redirect(url_for("webhooks.index"), 303)


@bp.post("/webhooks/<webhook>/replay")
@needs("manager", all_queues=True)
def replay(webhook: str) -> Response | tuple[str, int]:
    """Send deliveries again: one, the failed ones, or all since a time."""
    endpoint = webhooks.Endpoints(state().client).get(webhook)
    delivery, since = request.form.get("delivery") or None, request.form.get("since", "").strip()
    try:
        count = webhooks.Deliveries(state().client).replay(
            endpoint,
            delivery=delivery,
            since=filter_time(since, "since"),
            failed=request.form.get("failed") == "yes",
        )
    except (Invalid, ItemNotFound) as error:
        return endpoint_page(
            endpoint, error=in_words(error) if isinstance(error, Invalid) else str(error)
        ), 400
    log_change("webhook.replayed", webhook, str(count))
    flash(ngettext("%(num)s delivery is sent again.", "%(num)s deliveries are sent again.", count))
    return _here(webhook)
