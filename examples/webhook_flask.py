"""WEBHOOK_SECRET=whsec_… flask --app webhook_flask run: receive webhooks with Flask."""

import os
from typing import Any

from flask import Flask, abort, request
from standardwebhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
seen: dict[str, Any] = {}  # by webhook-id: keep this in your database


@app.post("/hook")
def receive() -> tuple[str, int]:
    try:
        event = Webhook(os.environ["WEBHOOK_SECRET"]).verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        abort(400)
    seen.setdefault(request.headers["webhook-id"], event)  # an event may come more than once
    return "", 204
