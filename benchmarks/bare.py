"""Flask routes to compare with: one does nothing, and two make round trips using only stock libraries."""

from __future__ import annotations

import os
from typing import Any

import flask_login
from flask import Flask, render_template, request
from flask_wtf.csrf import CSRFProtect, generate_csrf
from redis import Redis

SCRIPT = "return ARGV[1]"
FIELDS = 10
PAGE = """<h1>{{ title }}</h1><form><input type="hidden" name="csrf_token" value="{{ csrf_token() }}">
{% for n in range(fields) %}<label>{{ title }} <input name="f{{ n }}" value="{{ sent.token }}"></label>
{% endfor %}</form>"""

app = Flask(__name__)
app.config.update(SECRET_KEY=os.environ["LEASEQ_SECRET_KEY"], WTF_CSRF_CHECK_DEFAULT=False)
csrf = CSRFProtect(app)
login_manager = flask_login.LoginManager(app)
server = Redis.from_url(os.environ["LEASEQ_REDIS_URL"], protocol=2)
script_sha = server.script_load(SCRIPT)
page_template = app.jinja_env.from_string(PAGE)


class Visitor(flask_login.UserMixin):  # type: ignore[misc]  # flask-login has no types
    id = "person"


@login_manager.user_loader  # type: ignore[untyped-decorator]
def load_visitor(id: str) -> Visitor:
    server.get(f"leaseq:session:{id}")
    return Visitor()


def call_script() -> None:
    server.evalsha(script_sha, 1, "leaseq:{bare}:ledger", "1")


@app.get("/readyz")
def readyz() -> dict[str, Any]:
    return {}


@app.post("/echo")
def echo() -> dict[str, Any]:
    """Do nothing."""
    body: dict[str, Any] = request.get_json()
    return body


@app.post("/stock-call")
def stock_call() -> dict[str, Any]:
    """Make two round trips: one for the caller, one for the operation."""
    body: dict[str, Any] = request.get_json()
    server.get("leaseq:token")
    call_script()
    return body


@app.get("/sign-in")
def sign_in() -> dict[str, str]:
    flask_login.login_user(Visitor())
    return {"csrf_token": generate_csrf()}


@app.post("/stock-page")
def stock_page() -> str:
    """Make three round trips (session, operation, figures of the day), and render a form of ten fields."""
    csrf.protect()
    assert flask_login.current_user.is_authenticated
    call_script()
    server.hincrby("leaseq:bare:day", "finished", 1)
    return render_template(page_template, title="A message", fields=FIELDS, sent=request.form)
