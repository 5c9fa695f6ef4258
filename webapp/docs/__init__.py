"""The OpenAPI document, and a page on which to read it. Neither contains data of queues or people."""

from __future__ import annotations

from typing import Any, cast

from flask import Blueprint, Response, current_app, render_template, request
from flask_openapi.openapi import OpenAPI
from markupsafe import Markup

from leaseq.webapp.docs.commands import BASE, commands
from leaseq.webapp.docs.reading import read
from leaseq.webapp.docs.words import fields_of, inline, limits
from leaseq.webapp.serving.problem import MEANINGS

bp = Blueprint("docs", __name__, url_prefix=BASE)
_REFERENCE, _BYTES = "leaseq-reference", "leaseq-openapi"
_HELPERS = {
    "commands": commands,
    "fields_of": fields_of,
    "inline": inline,
    "limits": limits,
    "meanings": MEANINGS,
}


@bp.get("/openapi.json")
def openapi() -> Response:
    servers = [
        {"url": request.root_url.rstrip("/"), "description": "The server that this description is from"}
    ]
    beginning = f'{{"servers": {current_app.json.dumps(servers)}, '.encode()
    # In two parts: the large one is shared, so many slow clients need no copy each.
    return Response([beginning, document_bytes()], mimetype="application/json")


@bp.get("/docs")
def page() -> str:
    about = _document()["info"]["description"]
    return render_template("docs/page.html", base=BASE, about=about, reference=_reference())


def _document() -> dict[str, Any]:
    return cast("OpenAPI", current_app).api_doc


def document_bytes() -> bytes:
    """The OpenAPI document as JSON without its first brace, created only once, since that takes 30 ms."""
    document: bytes | None = current_app.extensions.get(_BYTES)
    if document is None:
        document = current_app.extensions[_BYTES] = current_app.json.dumps(_document())[1:].encode()
    return document


def _reference() -> Markup:
    """The OpenAPI document as HTML, rendered once, since it does not change while the app runs."""
    html: Markup | None = current_app.extensions.get(_REFERENCE)
    if html is None:
        reference = read(_document())
        text = render_template("docs/reference.html", reference=reference, **_HELPERS)
        html = current_app.extensions[_REFERENCE] = Markup(text)  # noqa: S704 - our own template has escaped it
    return html
