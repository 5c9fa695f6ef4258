"""The app, the paths of its requests and its URLs, in which a name or an id is always one segment.

WSGI servers decode a path, after which the slash in an item's id looks like one between two segments: the
item ``a/correct`` would be the page *correct* of the item ``a``. So routes are matched against the path as
it was sent.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, unquote_to_bytes

from flask import Flask, Request, request
from flask import Response as FlaskResponse
from flask_openapi.openapi import OpenAPI
from werkzeug.routing import BaseConverter, MapAdapter, Rule
from werkzeug.wrappers import Response

from leaseq.validation import is_dot_segment
from leaseq.webapp.serving.middleware import ROUTE, STATIC_PATH
from leaseq.webapp.serving.problem import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_IMPORT = re.compile(r'^(?:import|export)\b[^;]*?"(\.\.?/[^"]+)";', re.M)
_ESCAPED_WORDS = {"export": "%65xport"}  # words beside an item's id in routes
_TEXTS = (".css", ".js", ".svg")
_NOWHERE = "%00"
_YEAR_SECONDS = 365 * 86_400


class LateRule(Rule):
    """A rule whose URL builder is compiled when it builds its first URL. To compile those of all 230 rules
    takes a twentieth of a start."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(super()._compile_builder)

        def build(*args: Any, **values: Any) -> tuple[str, str]:
            return compiled(append_unknown)(*args, **values)

        return build


class App(OpenAPI):
    """The app. No view is a coroutine, so Flask's check of each function at each request is left out.

    The URLs of static files contain a digest of all of them, so that a browser asks for each only once. Their
    imports are relative, and so have the same digest.
    """

    url_rule_class = LateRule

    def __init__(self, import_name: str, **options: Any) -> None:
        super().__init__(import_name, static_url_path=f"{STATIC_PATH}<digest>", **options)
        self._digest = digest_of(Path(str(self.static_folder)))
        self.url_default_functions.setdefault(None, []).append(self._add_digest)

    def _add_digest(self, endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static":
            values["digest"] = self._digest

    def send_static_file(self, filename: str, digest: str = "") -> FlaskResponse:
        """A file, also for a page of another version, which is then not kept."""
        response = super().send_static_file(filename)
        if filename.endswith(".css"):  # also for the sandboxed frame of a mail, which has no origin
            response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        if filename.endswith(_TEXTS):
            response.vary.add("Accept-Encoding")
            if request.accept_encodings.quality("gzip") and response.status_code == 200:
                response.close()  # the file
                response.direct_passthrough = False
                response.data = _gzipped(Path(str(self.static_folder)) / filename)
                response.content_encoding = "gzip"
                response.set_etag(f"{response.get_etag()[0]}-gzip")
                response.make_conditional(request)
        if digest == self._digest:
            response.cache_control.no_cache = None
            response.cache_control.public = response.cache_control.immutable = True
            response.cache_control.max_age = _YEAR_SECONDS
        return response

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        adapter = super().create_url_adapter(request)
        if request is None or adapter is None:
            return adapter
        return Adapter.of(adapter, routing_path(request.environ))

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return func


@lru_cache(maxsize=256)
def _gzipped(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), mtime=0)


@lru_cache(maxsize=256)
def imports_of(folder: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """The modules that these scripts of a folder import, directly or through others: a page names them all,
    so that a browser asks for them at once, and not for each level after the one before it."""
    found: dict[str, None] = {}
    to_read = [name for name in names if name.endswith(".js")]
    while to_read:
        name = to_read.pop()
        paths = _IMPORT.findall((folder / name).read_text())
        imported = (normpath(join(dirname(name), path)) for path in paths)
        new_names = [other for other in imported if other not in found]
        found |= dict.fromkeys(new_names)
        to_read += new_names
    return tuple(name for name in found if name not in names)


def digest_of(folder: Path) -> str:
    """A digest of the names and the contents of all files in a folder."""
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(str(path.relative_to(folder)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def init_paths(app: Flask, without_view: Callable[[], Response | None]) -> None:
    """Register the converters, before any route, the checks that precede all others, and the URLs of the
    request for templates. ``without_view`` answers a request that no view gets: OPTIONS, and methods that
    the path does not have."""

    def check() -> Response | None:
        this_request: Request = request._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001
        environ, rule = this_request.environ, this_request.url_rule
        if rule is not None:
            environ[ROUTE] = rule.rule
        _refuse_other_encodings(environ)
        return without_view() if rule is None or this_request.method == "OPTIONS" else None

    app.before_request(check)
    app.url_map.converters.update(default=Segment, item=ItemId)
    static_folder = Path(str(app.static_folder))
    app.jinja_env.globals.update(
        current_path=current_path,
        current_url=current_url,
        imports_of=lambda names: imports_of(static_folder, tuple(names)),
    )


def routing_path(environ: WSGIEnvironment) -> str:
    """The request's path, decoded except for the slashes within a segment: these are ``%2F``, and a percent
    sign is ``%25``. A word of a route that was sent escaped, as an item's id, stays so.

    Some proxies decode them before leaseq sees them; then they are slashes like all others.
    """
    path = _decoded(environ.get("PATH_INFO", ""))
    sent = environ.get("RAW_URI", "")
    if "%" not in sent:
        return path.replace("%", "%25")
    sent_segments = _decoded(sent).partition("?")[0].split("/")
    segments = [unquote(segment) for segment in sent_segments]
    script_name = _decoded(environ.get("SCRIPT_NAME", ""))
    if "/".join(segments) != script_name + path:
        return path.replace("%", "%25")  # an absolute URL, or a path that was changed on the way
    pairs = list(zip(segments, sent_segments, strict=True))[script_name.count("/") :]
    return "/".join(
        sent if sent == _ESCAPED_WORDS.get(segment) else segment.replace("%", "%25").replace("/", "%2F")
        for segment, sent in pairs
    )


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


def _refuse_other_encodings(environ: WSGIEnvironment) -> None:
    """Refuse text that is not UTF-8. Werkzeug would decode it to other characters, and so to the name of
    another item or person."""
    path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
    if path.isascii() and not query:
        return
    for field, raw in (
        ("path", path.encode("latin-1")),
        ("query", unquote_to_bytes(query.encode("latin-1"))),
    ):
        try:
            raw.decode()
        except UnicodeDecodeError:
            raise Problem.of(400, "invalid", "format", what="url_utf8", field=field) from None


class Segment(BaseConverter):
    """A name or an id: one segment of the path, which may contain escaped slashes."""

    def to_python(self, value: str) -> str:
        return unquote(value)

    def to_url(self, value: Any) -> str:
        return segment(str(value))


class ItemId(Segment):
    """An item's id. Unescaped slashes belong to it, too, since many ids are URLs and some proxies decode
    them. An id that is the word of a route is sent escaped."""

    regex = r"(?s:.+)"
    part_isolating = False

    def to_url(self, value: Any) -> str:
        return _ESCAPED_WORDS.get(str(value), super().to_url(value))


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
