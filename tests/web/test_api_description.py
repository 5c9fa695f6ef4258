"""What REST says of itself: its description, and whether it is alive."""

from __future__ import annotations

import re
from typing import Any


def test_the_description_is_openapi_3_1_and_names_every_call(app: Any) -> None:
    found = app.test_client().get("/api/v1/openapi.json").json
    assert found["openapi"] == "3.1.0"
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.endpoint.startswith("api.")
    }
    described = {(path, method) for path, item in found["paths"].items() for method in item}
    assert described == routes
    for item in found["paths"].values():
        for operation in item.values():
            assert operation["summary"]
            assert "401" in operation["responses"]


def test_alive_and_ready_need_nobody(app: Any) -> None:
    client = app.test_client()
    assert client.get("/healthz").json == {"status": "alive"}
    assert client.get("/readyz").json == {"status": "ready"}
