"""WEBHOOK_SECRET=whsec_… uvicorn webhook_fastapi:app: receive webhooks with FastAPI."""

import os
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from standardwebhooks import Webhook, WebhookVerificationError

app = FastAPI()
seen: dict[str, Any] = {}  # by webhook-id: keep this in your database


@app.post("/hook", status_code=204)
async def receive(request: Request) -> None:
    try:
        event = Webhook(os.environ["WEBHOOK_SECRET"]).verify(await request.body(), dict(request.headers))
    except WebhookVerificationError:
        raise HTTPException(400) from None
    seen.setdefault(request.headers["webhook-id"], event)  # an event may come more than once
