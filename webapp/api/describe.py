"""What the description leaves out when it is made from the models alone."""

from __future__ import annotations

from flask_openapi.blueprint import APIBlueprint
from flask_openapi.models.parameter import Parameter
from flask_openapi.models.path_item import PathItem
from flask_openapi.models.request_body import RequestBody

from webapp.api.keys import HEADER, MAX_KEY

_KEY = {
    "name": HEADER,
    "in": "header",
    "description": "Makes it safe to send again: it acts once with the same answer. Another for each body",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY},
}


def complete(bp: APIBlueprint) -> None:
    paths: dict[str, PathItem] = bp.paths
    for item in paths.values():
        if item.post is not None:
            item.post.parameters = [*(item.post.parameters or ()), Parameter.model_validate(_KEY)]
        for operation in (item.put, item.post):
            if operation is not None and isinstance(operation.requestBody, RequestBody):
                operation.requestBody.required = _asks_for_something(bp, operation.requestBody)


def _asks_for_something(bp: APIBlueprint, body: RequestBody) -> bool:
    """False where every field may be left out: then so may the body."""
    for kind in body.content.values():
        ref = getattr(kind.media_type_schema, "ref", None)
        if ref is not None and not bp.components_schemas[ref.rpartition("/")[2]].required:
            return False
    return True
