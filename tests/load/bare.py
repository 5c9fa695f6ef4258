"""A bare Flask app with one JSON route: what a request costs that does nothing."""

from __future__ import annotations

from typing import Any

from flask import Flask, request

app = Flask(__name__)


@app.get("/readyz")
def readyz() -> dict[str, Any]:
    return {}


@app.post("/echo")
def echo() -> dict[str, Any]:
    found: dict[str, Any] = request.get_json()
    return found
