"""The OpenAPI document, and a page on which to read it. Neither contains data of queues or people."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, cast

from flask import Blueprint, Response, current_app, g, render_template, request
from flask_openapi.openapi import OpenAPI

from leaseq.webapp.docs.reading import BASE, commands, fields_of, inline, limits, read
from leaseq.webapp.i18n import language
from leaseq.webapp.security.authorization import identify
from leaseq.webapp.serving.bodies import strict_request
from leaseq.webapp.serving.problem import MEANINGS

bp = Blueprint("docs", __name__, url_prefix=BASE)
_REFERENCE, _BYTES = "leaseq-reference", "leaseq-openapi"
_MARK = "reference-of-the-calls"  # where the page has the reference
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
    response = Response([beginning, document_bytes()], mimetype="application/json")
    return _conditional(response, request.root_url)


@bp.get("/docs")
def page() -> Response:
    """The page, of which only the frame is made for each request. An anonymous client that has it gets 304:
    the page of somebody who is signed in has their name and a token against forgery."""
    tag = f"{request.host_url} {language()}"
    identify(strict_request())
    is_anonymous = g.person is None
    if is_anonymous and request.if_none_match.contains(_etag(tag)):
        return _conditional(Response(mimetype="text/html"), tag)
    about = _document()["info"]["description"]
    frame = render_template("docs/page.html", base=BASE, about=about, reference=_MARK)
    beginning, _, end = frame.partition(_MARK)
    response = Response([beginning.encode(), _reference(), end.encode()], mimetype="text/html")
    return _conditional(response, tag) if is_anonymous else response


def _conditional(response: Response, tag: str) -> Response:
    """The response with an entity tag, or 304 if the client names it. ``tag``: what the response depends on,
    beside the document."""
    response.set_etag(_etag(tag), weak=True)
    response.headers["Cache-Control"] = "no-cache"
    response.vary.update(("Accept-Language", "Cookie"))
    return cast("Response", response.make_conditional(request.environ))


def _etag(tag: str) -> str:
    return sha256(document_bytes() + tag.encode()).hexdigest()[:32]


def _document() -> dict[str, Any]:
    return cast("OpenAPI", current_app).api_doc


def document_bytes() -> bytes:
    """The OpenAPI document as JSON without its first brace, created only once, since that takes 30 ms."""
    document: bytes | None = current_app.extensions.get(_BYTES)
    if document is None:
        document = current_app.extensions[_BYTES] = current_app.json.dumps(_document())[1:].encode()
    return document


def _reference() -> bytes:
    """The OpenAPI document as HTML, rendered once, since it does not change while the app runs."""
    html: bytes | None = current_app.extensions.get(_REFERENCE)
    if html is None:
        reference = read(_document())
        text = render_template("docs/reference.html", reference=reference, **_HELPERS)
        html = current_app.extensions[_REFERENCE] = text.encode()
    return html
