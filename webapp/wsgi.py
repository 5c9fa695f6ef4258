"""The WSGI entry point under gunicorn: ``gunicorn leaseq.webapp.wsgi:app``."""

from leaseq.webapp import create_app
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.docs import document_bytes
from leaseq.webapp.services import queues
from leaseq.webapp.serving import shutdown
from leaseq.webapp.serving.capacity import SlowClients
from leaseq.webapp.serving.time_slices import init_time_slices, run_beside
from leaseq.webapp.store.accounts import Passwords
from leaseq.webapp.store.samples import Sampler

init_time_slices()
app = create_app(passwords=Passwords(run=lambda function, arguments: run_beside(function, *arguments)))
with app.app_context():
    document_bytes()  # built during a burst, with its many objects, it would delay all other requests
_state = app.extensions[EXTENSION]
app.wsgi_app = SlowClients(app.wsgi_app, _state.request_slots)  # type: ignore[method-assign]
shutdown.on_shutdown(_state.waits.close)
shutdown.on_shutdown(_state.poller.close)
shutdown.on_shutdown(queues.stop_simulations)
_sampler = Sampler(_state.client, _state.samples, _state.accounts, _state.access)
_sampler.start()
shutdown.on_shutdown(_sampler.close)
