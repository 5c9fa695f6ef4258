"""The application factory."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache, partial

from flask_openapi.models.info import Info
from flask_openapi.openapi import OpenAPI

import leaseq
from leaseq.webapp import api, auth, docs, manage, people, webhooks, work
from leaseq.webapp.api.description.openapi import share_problems, show_roles
from leaseq.webapp.api.negotiation import answer_without_view, init_negotiation
from leaseq.webapp.context import EXTENSION, SharedQueue, State
from leaseq.webapp.docs import guides
from leaseq.webapp.errors import init_errors, problem_response, too_busy
from leaseq.webapp.files.kept import Files, open_files
from leaseq.webapp.i18n import Templates, init_i18n
from leaseq.webapp.monitoring import metrics
from leaseq.webapp.paths import App, init_paths
from leaseq.webapp.realtime.poller import Poller
from leaseq.webapp.realtime.snapshot import Snapshots
from leaseq.webapp.realtime.staff import Staff
from leaseq.webapp.rendering.filters import init_filters
from leaseq.webapp.security.authorization import SessionCookie, init_authorization
from leaseq.webapp.security.headers import nonce
from leaseq.webapp.security.rate_limits import init_rate_limits
from leaseq.webapp.serving.bodies import SlicedJson, StrictRequest, unpack_body
from leaseq.webapp.serving.capacity import Waits
from leaseq.webapp.serving.middleware import Cors, HttpMetrics, Middleware, Proxies, RequestSlots, init_hosts
from leaseq.webapp.serving.problem import init_unreadable
from leaseq.webapp.settings import Settings, SettingsRefused, load_settings
from leaseq.webapp.store.accounts import Accounts, Passwords
from leaseq.webapp.store.activity import Activity, Breaks
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.base import reader_of
from leaseq.webapp.store.idempotency import IdempotencyStore
from leaseq.webapp.store.jobs.imports import ImportJobs
from leaseq.webapp.store.jobs.simulations import Simulations
from leaseq.webapp.store.jobs.undo import UndoStore
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.open_calls import OpenCalls
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.samples import Samples
from leaseq.webapp.store.threads import Threads


def make_app(settings: Settings | None, passwords: Passwords | None) -> OpenAPI:
    settings = settings or load_settings()
    app = App(
        "leaseq.webapp",
        info=Info(title="leaseq", version=api.VERSION, description=api.ABOUT),
        doc_ui=False,
        security_schemes=api.SECURITY,
        validation_error_status=400,
        validation_error_model=api.Problem,
    )
    app.openapi_version = "3.1.0"
    app.request_class = StrictRequest
    app.session_interface = SessionCookie()
    app.jinja_environment = Templates
    app.json = SlicedJson(app)
    _configure(app, settings)
    client = leaseq.connect(settings.redis_url)
    http_metrics, slots = HttpMetrics(), RequestSlots(settings.threads)
    threads, access = Threads(client), QueueAccess(client)
    accounts = Accounts(client, passwords=passwords, session_seconds=settings.session_days * 86_400)

    open_calls, breaks = OpenCalls(client), Breaks(client)
    announcements = Announcements(client)
    staff = Staff(accounts.people, access, open_calls, breaks, announcements, accounts.shown_names)
    app.extensions[EXTENSION] = State(
        settings,
        client,
        accounts,
        slots,
        Waits(),
        Snapshots(threads, staff),
        Poller(reader_of(client)),
        Activity(client, zone=settings.zone),
        http_metrics,
        IdempotencyStore(client),
        open_calls,
        threads,
        Simulations(client),
        ImportJobs(client),
        ListSettingsStore(client),
        UndoStore(client),
        Samples(client),
        access,
        breaks,
        announcements,
        _files(settings),
        lru_cache(maxsize=1_000)(partial(SharedQueue, client)),
    )
    init_paths(app, answer_without_view)
    init_i18n(app)
    init_hosts(app, settings.allowed_hosts)
    init_negotiation(app, api.bp)
    app.before_request(unpack_body)
    init_authorization(app)
    init_rate_limits(app, client, settings.rate_limit)
    init_errors(app)
    init_unreadable(app, problem_response)
    init_filters(app)
    for view in (auth, work, manage, people, webhooks, metrics, docs, guides):
        app.register_blueprint(view.bp)
    app.register_api(api.bp)
    show_roles(app, api.bp)
    share_problems(app)
    app.jinja_env.globals["nonce"] = nonce
    app.wsgi_app = Middleware(  # type: ignore[method-assign]
        app,
        slots,
        http_metrics,
        too_busy,
        max_queue_seconds=settings.max_queue_seconds,
        https=settings.secure_cookies,
    )
    if settings.cors_origins:
        app.wsgi_app = Cors(app.wsgi_app, settings.cors_origins)  # type: ignore[method-assign]
    app.wsgi_app = Proxies(  # type: ignore[method-assign]
        app.wsgi_app, client, settings.trusted_proxies, settings.proxy_addresses
    )
    return app


def _files(settings: Settings) -> Files | None:
    try:
        return open_files(settings.files, settings.secret_key.get_secret_value(), settings.max_file_bytes)
    except ValueError as error:
        raise SettingsRefused(f"LEASEQ_FILES: {error}") from None


def _configure(app: OpenAPI, settings: Settings) -> None:
    secure = settings.secure_cookies
    app.config.update(
        SECRET_KEY=settings.secret_key.get_secret_value(),
        SESSION_COOKIE_NAME="__Host-leaseq" if secure else "leaseq",
        SESSION_COOKIE_SECURE=secure,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_REFRESH_EACH_REQUEST=False,  # webapp/security/authorization.py does it, once an hour
        PERMANENT_SESSION_LIFETIME=timedelta(days=settings.session_days),
        MAX_CONTENT_LENGTH=settings.max_body_bytes,
        MAX_FORM_MEMORY_SIZE=settings.max_body_bytes,
    )
