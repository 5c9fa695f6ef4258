"""The paths of requests and the URLs of routes, in which a name or an id is always one segment.

WSGI servers decode a path, after which the slash in an item's id looks like one between two segments: the
item ``a/correct`` would be the page *correct* of the item ``a``. So routes are matched against the path as
it was sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from flask import Flask, request
from werkzeug.routing import BaseConverter, MapAdapter

from leaseq.validation import is_dot_segment

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_NOWHERE = "%00"


def init_paths(app: Flask) -> None:
    """Register the converters, before any route, and the URLs of the request for templates."""
    app.url_map.converters.update(default=Segment, item=ItemId)
    app.jinja_env.globals.update(current_path=current_path, current_url=current_url)


def routing_path(environ: WSGIEnvironment) -> str:
    """The request's path, decoded except for the slashes within a segment: these are ``%2F``, and a percent
    sign is ``%25``.

    Some proxies decode them before leaseq sees them; then they are slashes like all others.
    """
    path = _decoded(environ.get("PATH_INFO", ""))
    sent = environ.get("RAW_URI", "")
    if "%" not in sent:
        return path.replace("%", "%25")
    segments = [unquote(one) for one in _decoded(sent).partition("?")[0].split("/")]
    script_name = _decoded(environ.get("SCRIPT_NAME", ""))
    if "/".join(segments) != script_name + path:
        return path.replace("%", "%25")  # an absolute URL, or a path that was changed on the way
    return "/".join(one.replace("%", "%25").replace("/", "%2F") for one in segments[script_name.count("/") :])


def current_path() -> str:
    """The request's path for a link: escaped, and always a path of this app."""
    return "/" + "/".join(map(segment, map(unquote, routing_path(request.environ).lstrip("/").split("/"))))


def current_url() -> str:
    """The request's path and query for a link."""
    query = request.query_string.decode("latin-1")
    return f"{current_path()}?{query}" if query else current_path()


def segment(value: str) -> str:
    """A value as one segment of a URL's path. Clients remove the segments ``.`` and ``..``, escaped or not,
    and so would go to another page; for these two, the URL is one that does not exist."""
    return quote(value, safe="") + (_NOWHERE if is_dot_segment(value) else "")


class Segment(BaseConverter):
    """A name or an id: one segment of the path, which may contain escaped slashes."""

    def to_python(self, value: str) -> str:
        return unquote(value)

    def to_url(self, value: Any) -> str:
        return segment(str(value))


class ItemId(Segment):
    """An item's id. Unescaped slashes belong to it, too, since many ids are URLs and some proxies decode
    them."""

    regex = r"(?s:.+)"
    part_isolating = False


class Adapter(MapAdapter):
    """Matches the paths of `routing_path`, which are partly escaped."""

    @classmethod
    def of(cls, bound: MapAdapter, path: str) -> Adapter:
        return cls(
            bound.map,
            bound.server_name,
            bound.script_name,
            bound.subdomain,
            bound.url_scheme,
            path,
            bound.default_method,
            bound.query_args,
        )

    def make_redirect_url(
        self, path_info: str, query_args: Any = None, domain_part: str | None = None
    ) -> str:
        """The base class has escaped the whole path, once too often."""
        return super().make_redirect_url(path_info.replace("%25", "%"), query_args, domain_part)


def _decoded(text: str) -> str:
    """A string of a WSGI environ, which has a character for each byte of UTF-8."""
    return text.encode("latin-1", "replace").decode("utf-8", "replace")
