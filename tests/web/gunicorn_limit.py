"""The configuration of gunicorn with another time limit on its sockets, from the environment."""

import os

from webapp import serving
from webapp.serving import *  # noqa: F403 - gunicorn takes what a module of settings holds

serving.SOCKET_SECONDS = float(os.environ["SOCKET_SECONDS"])
