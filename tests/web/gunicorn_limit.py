"""The configuration of gunicorn with another time limit on its sockets, from the environment."""

import os

from leaseq.webapp.serving import gunicorn_conf
from leaseq.webapp.serving.gunicorn_conf import *  # noqa: F403 - gunicorn takes what a module of settings holds

gunicorn_conf.SOCKET_SECONDS = float(os.environ["SOCKET_SECONDS"])  # type: ignore[assignment]  # a test waits for less than a second
