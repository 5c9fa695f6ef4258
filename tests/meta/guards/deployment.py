"""Deployment: proxies, the log, the secret."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "the doctor reports an undeclared proxy",
        guard(
            "proxy-noted",
            "webapp/serving/middleware.py",
            "note_undeclared_proxy(self._client, address, header)",
            instead="pass",
        ),
        guard("proxy-near", "webapp/serving/middleware.py", "_is_private(address)", instead="True"),
        guard(
            "proxy-probes",
            "webapp/serving/middleware.py",
            'environ.get("PATH_INFO") not in PROBE_PATHS and ',
            instead="",
        ),
    ),
    *row(
        "only hosts named by the setting",
        guard("hosts-checked", "webapp/serving/middleware.py", "app.before_request(check)", instead="pass"),
        guard(
            "hosts-suffix",
            "webapp/serving/middleware.py",
            'return host in (name, name.removeprefix(".")) or (name.startswith(".") and host.endswith(name))',
            instead='return host == name or host.endswith(name.removeprefix("."))',
        ),
        guard(
            "hosts-probes",
            "webapp/serving/middleware.py",
            "request.path not in PROBE_PATHS and not any(_matches(host, name) for name in names)",
            instead="not any(_matches(host, name) for name in names)",
        ),
    ),
    *row(
        "X-Forwarded-* only from configured proxies",
        guard(
            "forwarded-networks",
            "webapp/serving/middleware.py",
            "return any(ip in network for network in self._networks)",
            instead="return True",
        ),
        guard(
            "request-id-by-proxy",
            "webapp/serving/middleware.py",
            "VIA_PROXY in environ and _ID.fullmatch(header)",
            instead="_ID.fullmatch(header)",
        ),
        guard(
            "forwarded-by-gunicorn",
            "webapp/serving/gunicorn_conf.py",
            'forwarded_allow_ips = ""',
            instead='forwarded_allow_ips = "*"',
        ),
    ),
    *row(
        "log lines escaped",
        guard(
            "log-escaped",
            "webapp/serving/logs.py",
            'words = [_time(record), record.levelname.lower(), f"{record.name}:", escaped(record.getMessage())]',
            instead="words = [record.getMessage()]",
        ),
    ),
    *row(
        "weak or missing LEASEQ_SECRET_KEY refused outside up",
        guard(
            "secret-length",
            "webapp/settings.py",
            "secret is not None and len(secret) < MIN_SECRET",
            instead="False",
        ),
        guard(
            "secret-weak", "webapp/settings.py", "secret is not None and _is_weak(secret)", instead="False"
        ),
        guard(
            "secret-needed",
            "webapp/settings.py",
            'secret_key: SecretStr = Field(\n        description=f"The key that signs sessions: at least {MIN_SECRET} random characters, the same for "\n        "every web process. `leaseq up` creates one in its data directory.",\n    )',
            instead='secret_key: SecretStr = Field(default="made up, for want of another one")',
        ),
    ),
    *row(
        "/metrics for managers or a token of its own",
        guard(
            "metrics-token",
            "webapp/monitoring/metrics.py",
            "return hmac.compare_digest(token.get_secret_value().encode(), bearer.encode())",
            instead="return True",
        ),
    ),
    *row(
        "webhooks go to public addresses or allowed ones, and to public ones by https",
        guard("webhook-address", "leaseq/webhooks/sending.py", "not is_public(address)", instead="False"),
        guard(
            "webhook-inside",
            "leaseq/webhooks/sending.py",
            "        if inner_addresses",
            instead="        if False",
        ),
        guard(
            "webhook-tls",
            "leaseq/webhooks/sending.py",
            "if not target.https:\n            raise AddressRefused",
            instead="if False:\n            raise AddressRefused",
        ),
    ),
    *row(
        "webhooks of events of people are for admins",
        guard(
            "webhook-people",
            "webapp/services/webhooks.py",
            "not is_admin and any(name.startswith(_PERSON) for name in events)",
            instead="False",
        ),
    ),
)
