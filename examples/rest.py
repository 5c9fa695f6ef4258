"""LEASEQ=http://127.0.0.1:8000/api/v1 TOKEN=... python rest.py produce|consume QUEUE: REST, plain Python."""

import json
import os
import sys
import time
import uuid
from typing import Any
from urllib import error, parse, request


def call(path: str, body: Any) -> tuple[Any, Any]:
    """POST and return the answer and its headers. A lost reply is retried; the key makes that safe."""
    key = {"Idempotency-Key": str(uuid.uuid4()), "Content-Type": "application/json"}
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", **key}
    post = request.Request(os.environ["LEASEQ"] + path, json.dumps(body).encode(), headers)
    while True:
        try:
            with request.urlopen(post, timeout=60) as answer:
                return json.loads(answer.read() or "null"), answer.headers
        except error.HTTPError as refused:
            sys.exit(refused.read().decode())
        except OSError as lost:
            print(f"again in a second: {lost}", file=sys.stderr)
            time.sleep(1)


queue = f"/queues/{sys.argv[2]}"
if sys.argv[1] == "produce":  # one text per line
    print(call(f"{queue}/items", [{"payload": {"text": line.strip()}} for line in sys.stdin])[0])
while sys.argv[1] == "consume":  # count the words of each text, until no items are left
    lease, why = call(f"{queue}/reserve", {"wait": 5})
    while lease:
        result = {"words": len(lease["payload"]["text"].split())}
        finish = {"token": lease["token"], "result": result, "then_reserve": True}
        lease = call(f"{queue}/items/{parse.quote(lease['id'], safe='')}/finish", finish)[0]["next"]
    if why["X-Leaseq-Reason"] in ("empty", "not-eligible", "paused"):
        break
    time.sleep(int(why["Retry-After"] or 0))
