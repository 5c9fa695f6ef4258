"""How a place is run: its proxies, its log, its secret."""

from tests.security.guards.guard import Guard, guards

T_GATE, T_LOGS, T_SETTINGS = (
    "tests/web/security/test_authorization.py",
    "tests/web/serving/test_logging.py",
    "tests/web/test_settings.py",
)

FORWARDED = "X-Forwarded-* only from configured proxies"
SECRET = "weak or missing LEASEQ_SECRET_KEY refused outside up"

GUARDS: tuple[Guard, ...] = (
    *guards(
        "the doctor tells of a proxy that is not declared",
        "webapp/serving/proxy.py",
        "tests/doctor/test_proxies.py",
        ("            note_undeclared_proxy(self._client, address, header)\n", "            pass\n"),
        ("if header is not None and _is_near(request.remote_addr):", "if header is not None:"),
        (" or request.endpoint in PROBES:", ":"),
    ),
    *guards(
        "only hosts that the setting names",
        "webapp/serving/hosts.py",
        "tests/web/serving/test_hosts.py",
        ("        app.before_request(check)\n", "        pass\n"),
        ("host.endswith(name)", "host.endswith(name[1:])"),
        ("request.endpoint not in PROBES and", ""),
    ),
    *guards(
        FORWARDED,
        "webapp/serving/proxy.py",
        f"{T_GATE}::test_forwarded_headers_are_believed_from_configured_proxies_only",
        ("return any(found in network for network in self._networks)", "return True"),
    ),
    *guards(
        FORWARDED,
        "webapp/serving/access_log.py",
        f"{T_LOGS}::test_an_id_is_taken_from_a_configured_proxy_only",
        ("if came_by_proxy(environ) and _ID.fullmatch(given):", "if _ID.fullmatch(given):"),
    ),
    *guards(
        FORWARDED,
        "webapp/serving/gunicorn_conf.py",
        "tests/web/serving/test_proxy.py",
        ('forwarded_allow_ips = ""', 'forwarded_allow_ips = "*"'),
    ),
    *guards(
        "log lines escaped",
        "webapp/serving/logging.py",
        f"{T_LOGS}::test_nothing_forges_a_line",
        ("escaped(record.getMessage())", "record.getMessage()"),
    ),
    *guards(
        SECRET,
        "webapp/settings.py",
        f"{T_SETTINGS}::test_a_bad_setting_is_named",
        ("if secret is not None and len(secret) < MIN_SECRET:", "if False:"),
        ("if secret is not None and _is_weak(secret):", "if False:"),
        (
            "    secret_key: SecretStr = Field(\n",
            '    secret_key: SecretStr = Field(\n        default="made up, for want of another one",\n',
        ),
    ),
    *guards(
        "/metrics for managers or a token of its own",
        "webapp/monitoring/metrics.py",
        "tests/web/monitoring/test_metrics.py::test_it_is_for_managers_and_whoever_has_the_token",
        ("return hmac.compare_digest(", "return True or hmac.compare_digest("),
    ),
)
