"""The API's description, and a page to read it by. Neither tells anything about anybody's data."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import cast

from flask import Blueprint, Response, current_app, jsonify, render_template, send_from_directory
from flask_openapi.openapi import OpenAPI

bp = Blueprint("docs", __name__, url_prefix="/api/v1")

ASSETS = Path(str(files("flask_openapi_swagger"))) / "templates" / "swagger"


@bp.get("/openapi.json")
def openapi() -> Response:
    return jsonify(cast("OpenAPI", current_app).api_doc)


@bp.get("/docs")
def page() -> str:
    return render_template("docs.html")


@bp.get("/docs/assets/<path:file>")
def asset(file: str) -> Response:
    return send_from_directory(ASSETS, file)
