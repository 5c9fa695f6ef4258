"""The page of the audit log."""

from __future__ import annotations

from flask import render_template, request
from flask_babel import lazy_gettext as _

from leaseq.webapp.context import accounts
from leaseq.webapp.people.blueprint import bp
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts.log import LogEntry

PAGE = 50

KINDS = {
    "person": _("people"),
    "invitation": _("invitations"),
    "sign-in": _("signing in"),
    "token": _("API tokens"),
    "queue": _("queues"),
    "item": _("items"),
    "webhook": _("webhooks"),
}

WORDS = {
    "person.set-up": _("became the first admin"),
    "person.added": _("added a person"),
    "person.changed": _("changed a person"),
    "person.team-renamed": _("renamed a team"),
    "person.disabled": _("disabled a person"),
    "person.enabled": _("enabled a person"),
    "person.erased": _("erased a person"),
    "invitation.made": _("invited somebody"),
    "invitation.renewed": _("created a new link for an invitation"),
    "invitation.revoked": _("revoked an invitation"),
    "invitation.used": _("joined by an invitation"),
    "sign-in.done": _("signed in"),
    "sign-in.failed": _("failed to sign in as"),
    "sign-in.limited": _("was refused after too many attempts to sign in as"),
    "sign-in.link-made": _("created a password reset link"),
    "sign-in.link-used": _("chose a password through a reset link"),
    "sign-in.password-set": _("set a password"),
    "sign-in.sessions-ended": _("ended all sessions"),
    "sign-in.factor-on": _("turned on two-factor sign-in"),
    "sign-in.factor-off": _("turned off two-factor sign-in"),
    "sign-in.provider-allowed": _("allowed a person to be linked to the identity provider"),
    "sign-in.provider-tied": _("signed in through the identity provider for the first time"),
    "sign-in.provider-untied": _("unlinked a person from the identity provider"),
    "token.made": _("created a token"),
    "token.rotated": _("replaced a token"),
    "token.revoked": _("revoked a token"),
    "token.all-revoked": _("revoked all tokens"),
    "queue.made": _("created a queue"),
    "queue.set": _("changed the settings"),
    "queue.paused": _("paused"),
    "queue.resumed": _("resumed"),
    "queue.announced": _("announced"),
    "queue.announcement-ended": _("ended the announcement"),
    "queue.cleared": _("returned expired leases"),
    "queue.imported": _("imported"),
    "queue.revived": _("handed out items again"),
    "queue.removed": _("removed items"),
    "queue.deleted": _("deleted a queue"),
    "queue.access": _("changed who has access to a queue"),
    "queue.simulated": _("started simulated people"),
    "queue.simulation-stopped": _("stopped simulated people"),
    "item.added": _("added an item"),
    "item.changed": _("changed an item"),
    "item.revived": _("handed out an item again"),
    "item.released": _("released an item"),
    "item.assigned": _("assigned an item"),
    "item.unassigned": _("let anybody have what was assigned"),
    "item.removed": _("removed an item"),
    "item.adopted": _("accepted a late answer"),
    "item.reopened": _("reopened an item"),
    "item.corrected": _("corrected an answer"),
    "item.put-back": _("undid a change of many items"),
    "item.answered": _("wrote about an item"),
    "item.settled": _("marked a question as needing no answer"),
    "webhook.added": _("added a webhook endpoint"),
    "webhook.removed": _("removed a webhook endpoint"),
    "webhook.enabled": _("enabled a webhook endpoint"),
    "webhook.disabled": _("disabled a webhook endpoint"),
    "webhook.rotated": _("created a new webhook secret"),
    "webhook.tested": _("tested a webhook endpoint"),
    "webhook.replayed": _("sent webhooks again"),
}


def in_words(entry: LogEntry) -> str:
    """An entry in words, or its code if it has no words yet, so that nothing is left out."""
    return str(WORDS.get(entry.what, entry.what.partition(".")[2].replace("_", " ").replace("-", " ")))


@bp.get("/audit-log")
@needs("admin")
def log() -> str:
    name, kind = request.args.get("person", "").strip() or None, request.args.get("kind") or None
    page = accounts().log.page(after=request.args.get("after"), limit=PAGE, person=name, kind=kind)
    return render_template(
        "people/log.html", page=page, person_name=name, kind=kind, kinds=KINDS, in_words=in_words
    )
