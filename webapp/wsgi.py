"""What gunicorn serves: ``gunicorn webapp.wsgi:app``."""

from webapp import create_app
from webapp.context import EXTENSION
from webapp.serving.long_poll import end_at_a_stop

app = create_app()
_state = app.extensions[EXTENSION]
end_at_a_stop(_state.client.close, _state.live.hub.close)
