"""leaseq's app as gunicorn runs it, with lower limits, so that a test waits for less than a second.

From the environment: SLOW_SECONDS is the time for a piece of a body and for a write of an answer; with
NO_WAIT, requests for an item don't wait for it; with SLICES, /longest-slice tells how long a request kept
others from running.
"""

import os

from leaseq.webapp.services import leases
from leaseq.webapp.wsgi import app
from tests.web.slice_meter import SliceMeter

if seconds := os.environ.get("SLOW_SECONDS"):
    app.wsgi_app._seconds = float(seconds)  # type: ignore[attr-defined]
if "NO_WAIT" in os.environ:
    wait_for_item = leases._wait_for_item
    leases._wait_for_item = lambda queue, seconds, request_id: wait_for_item(queue, 0 * seconds, request_id)
if "SLICES" in os.environ:
    app.wsgi_app = SliceMeter(app.wsgi_app)  # type: ignore[method-assign]
