"""A producer and a consumer that speak REST, with nothing but Python.

LEASEQ=http://127.0.0.1:8000/api/v1 TOKEN=... python rest.py produce reviews < lines   # one text a line
LEASEQ=http://127.0.0.1:8000/api/v1 TOKEN=... python rest.py consume reviews
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.request
import uuid
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote


def call(path: str, body: Any, kind: str = "application/json") -> tuple[Any, Any]:
    """POST; after a lost reply once more, with the same key: it acts once."""
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": kind}
    headers["Idempotency-Key"] = str(uuid.uuid4())
    request = urllib.request.Request(os.environ["LEASEQ"] + path, data, headers)
    try:
        return send(request)
    except HTTPError as refused:
        sys.exit(refused.read().decode())
    except OSError:
        return send(request)


def send(request: urllib.request.Request) -> tuple[Any, Any]:
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or "null"), answer.headers


def produce(queue: str) -> None:
    lines = "".join(json.dumps({"payload": {"text": line.strip()}}) + "\n" for line in sys.stdin)
    print(call(f"/queues/{queue}/items", lines, "application/x-ndjson")[0])


def consume(queue: str) -> None:
    """Count the words of each text, until nothing is left."""
    lease, why = call(f"/queues/{queue}/reserve", {"wait": 5})
    while lease or why["X-Leaseq-Reason"] == "held":
        if lease:
            result = {"words": len(lease["payload"]["text"].split())}
            finish = {"token": lease["token"], "result": result, "then_reserve": True}
            lease = call(f"/queues/{queue}/items/{quote(lease['id'], safe='')}/finish", finish)[0]["next"]
        else:
            time.sleep(int(why["Retry-After"]))
        if not lease:
            lease, why = call(f"/queues/{queue}/reserve", {"wait": 5})


if __name__ == "__main__":
    {"produce": produce, "consume": consume}[sys.argv[1]](sys.argv[2])
