"""An error of the web app as a value, and as the JSON that programs read (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any


class Problem(Exception):
    """An error response: its status, its stable code, its detail, and members of its own."""

    def __init__(self, status: int, code: str, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.members = members
        self.headers: dict[str, str] = {}


_TITLES = {413: "Content too large", 414: "URI too long", 422: "Unprocessable content"}
"""Titles that HTTPStatus does not give in sentence case: Python 3.11 has older phrases; URI is an acronym."""


def title_of(status: int) -> str:
    return _TITLES.get(status) or HTTPStatus(status).phrase.capitalize()


def body_of(problem: Problem, request_id: str | None) -> dict[str, Any]:
    return {
        "type": "about:blank",
        "title": title_of(problem.status),
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "request_id": request_id,
        **problem.members,
    }
