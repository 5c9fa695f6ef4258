"""Deployment: proxies, the log, the secret."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "the doctor reports an undeclared proxy",
        guard(
            "proxy-noted",
            "test_undeclared_proxy_is_reported",
        ),
        guard("proxy-near", "test_declared_proxy_or_direct_client_is_not_reported", instead="True"),
        guard(
            "proxy-probes",
            "test_health_probe_through_undeclared_proxy_is_not_reported",
            instead="came_by_proxy(request.environ)",
        ),
    ),
    *row(
        "only hosts named by the setting",
        guard(
            "hosts-checked",
            "test_another_host_is_refused",
        ),
        guard(
            "hosts-suffix",
            "test_another_host_is_refused",
            instead='return host == name or host.endswith(name.removeprefix("."))',
        ),
        guard(
            "hosts-probes",
            "test_health_checks_accept_any_host",
            instead="not any(_matches(host, name) for name in names)",
        ),
    ),
    *row(
        "X-Forwarded-* only from configured proxies",
        guard(
            "forwarded-networks",
            "test_forwarded_headers_are_trusted_only_from_configured_proxies",
            instead="return True",
        ),
        guard(
            "request-id-by-proxy",
            "test_request_id_is_accepted_only_from_trusted_proxy",
            instead="_ID.fullmatch(header)",
        ),
        guard(
            "forwarded-by-gunicorn",
            "test_gunicorn_ignores_forwarded_scheme_headers",
            instead='forwarded_allow_ips = "*"',
        ),
    ),
    *row(
        "log lines escaped",
        guard(
            "log-escaped",
            "test_control_characters_do_not_forge_log_lines",
            instead="words = [record.getMessage()]",
        ),
    ),
    *row(
        "weak or missing LEASEQ_SECRET_KEY refused outside up",
        guard("secret-length", "test_refusal_of_invalid_setting_names_variable"),
        guard("secret-weak", "test_refusal_of_invalid_setting_names_variable"),
        guard(
            "secret-needed",
            "test_refusal_of_invalid_setting_names_variable",
            instead='secret_key: SecretStr = Field(default="made up, for want of another one")',
        ),
    ),
    *row(
        "/metrics for managers or a token of its own",
        guard("metrics-token", "test_metrics_require_manager_or_metrics_token", instead="return True"),
    ),
    *row(
        "webhooks go to public addresses or allowed ones, and to public ones by https",
        guard("webhook-address", "test_an_address_that_is_not_public_is_refused"),
        guard("webhook-inside", "test_an_address_that_is_not_public_is_refused"),
        guard("webhook-tls", "test_public_address_requires_https"),
    ),
    *row(
        "webhooks of events of people are for admins",
        guard("webhook-people", "test_webhook_for_person_events_requires_admin"),
    ),
)
