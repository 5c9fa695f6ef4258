"""The WSGI entry point: ``gunicorn leaseq.webapp.wsgi:app``."""

from leaseq.webapp import create_app
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.serving.long_poll import end_at_a_stop

app = create_app()
_state = app.extensions[EXTENSION]
end_at_a_stop(_state.client.close, _state.live.hub.close)
