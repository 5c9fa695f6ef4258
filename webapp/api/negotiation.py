"""HTTP checks of REST calls: allowed methods, query parameters, and the Accept header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from flask import Flask, Response, current_app, request
from flask_openapi.blueprint import APIBlueprint
from flask_openapi.models.operation import Operation
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.routing import Rule

from leaseq import Invalid
from leaseq.names import nearest
from leaseq.transfer import CONTENT_TYPES, Format
from leaseq.webapp.serving.middleware import in_api
from leaseq.webapp.serving.problem import Problem

_PATHS = "leaseq-api-paths"
REPEATED = frozenset({"payload_field"})  # parameters that are lists
PLAIN = frozenset({"GET", "HEAD", "OPTIONS"})


def init_negotiation(app: Flask, bp: APIBlueprint) -> None:
    app.extensions[_PATHS] = bp.paths


def template(rule: Rule) -> str:
    """A rule's path in the notation of the OpenAPI document."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)


def _methods() -> set[str]:
    """The methods of this path, from its closest rule: an item's id may contain slashes, so its rule matches
    most paths. Raises a redirect for a path with two slashes in a row."""
    adapter: Any = current_app.create_url_adapter(request)
    rule, _ = adapter.match(method="OPTIONS", return_rule=True)
    path_item = current_app.extensions[_PATHS].get(template(rule))
    if path_item is None:
        return set(PLAIN)
    methods = {name.upper() for name in ("get", "put", "post", "patch", "delete") if getattr(path_item, name)}
    return methods | ({"HEAD", "OPTIONS"} if "GET" in methods else {"OPTIONS"})


def answer_without_view() -> Response | None:
    """Answer OPTIONS, and refuse methods that the path does not have, before authorization: a path's methods
    are public, and a preflight has no token."""
    if not in_api():
        return None
    if isinstance(request.routing_exception, MethodNotAllowed):
        methods = ", ".join(sorted(_methods()))
        problem = Problem.of(405, "method-not-allowed", "method", methods=methods, method=request.method)
        problem.headers["Allow"] = methods
        raise problem
    if request.method != "OPTIONS" or request.routing_exception is not None:
        return None
    return Response(status=204, headers={"Allow": ", ".join(sorted(_methods()))})


def refuse_repeated_parameters() -> None:
    """Refuse repeated parameters, of which some programs read the first and others the last."""
    for name, values in request.args.lists():
        if len(values) > 1 and name not in REPEATED:
            raise Invalid(name, "one_value", count=len(values))


def refuse_unknown_parameters() -> None:
    """Refuse query parameters that the call does not have: nobody notices that they do nothing."""
    operation = _operation()
    if operation is None:
        return
    names = [parameter.name for parameter in operation.parameters or () if parameter.param_in == "query"]
    unknown = next((name for name in request.args if name not in names), None)
    if unknown is not None:
        raise Invalid(unknown, "one_of", choices=names, value=unknown, near=nearest(unknown, names))


def not_acceptable(kinds: Iterable[str]) -> Problem:
    """The refusal of a request that accepts none of the content types of its response."""
    return Problem.of(406, "not-acceptable", "accept", kinds=list(kinds))


def accepted_format(chosen: Format | None, formats: Sequence[Format]) -> Format:
    """The format of a response: the one that the query chooses, else the one that the Accept header prefers,
    else the first. Raises a problem if the Accept header excludes it."""
    offered = [chosen] if chosen else formats
    by_kind = {CONTENT_TYPES[format].partition(";")[0]: format for format in offered}
    if request.environ.get("HTTP_ACCEPT") in (None, ""):
        return offered[0]
    kind = request.accept_mimetypes.best_match(by_kind)
    if kind is None:
        raise not_acceptable(by_kind)
    return by_kind[kind]


def _operation() -> Operation | None:
    """The description of this call."""
    path_item = current_app.extensions[_PATHS].get(template(request.url_rule)) if request.url_rule else None
    method = "get" if request.method == "HEAD" else request.method.lower()
    return getattr(path_item, method, None)


def refuse_other_kinds() -> None:
    """Respond 406 if the caller accepts none of the call's content types, before the call does anything."""
    operation = _operation()
    if operation is None:
        return
    responses = [answer for status, answer in (operation.responses or {}).items() if status < "300"]
    kinds = [kind for answer in responses for kind in answer.content or ()]
    if kinds and not any(request.accept_mimetypes[kind] for kind in kinds):
        raise not_acceptable(kinds)
