"""Deployment: proxies, the log, the secret."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "the doctor tells of a proxy that is not declared",
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
        "only hosts that the setting names",
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
            "test_whether_it_is_alive_may_be_asked_by_any_name",
            instead="not any(_matches(host, name) for name in names)",
        ),
    ),
    *row(
        "X-Forwarded-* only from configured proxies",
        guard(
            "forwarded-networks",
            "test_forwarded_headers_are_believed_from_configured_proxies_only",
            instead="return True",
        ),
        guard(
            "request-id-by-proxy",
            "test_an_id_is_taken_from_a_configured_proxy_only",
            instead="_ID.fullmatch(header)",
        ),
        guard(
            "forwarded-by-gunicorn",
            "test_gunicorn_believes_no_header_about_the_scheme",
            instead='forwarded_allow_ips = "*"',
        ),
    ),
    *row(
        "log lines escaped",
        guard(
            "log-escaped",
            "test_nothing_forges_a_line",
            instead="words = [record.getMessage()]",
        ),
    ),
    *row(
        "weak or missing LEASEQ_SECRET_KEY refused outside up",
        guard("secret-length", "test_a_bad_setting_is_named"),
        guard("secret-weak", "test_a_bad_setting_is_named"),
        guard(
            "secret-needed",
            "test_a_bad_setting_is_named",
            instead='secret_key: SecretStr = Field(default="made up, for want of another one")',
        ),
    ),
    *row(
        "/metrics for managers or a token of its own",
        guard("metrics-token", "test_it_is_for_managers_and_for_the_token", instead="return True"),
    ),
    *row(
        "webhooks go to public addresses or allowed ones, and to public ones by https",
        guard("webhook-address", "test_an_address_that_is_not_public_is_refused"),
        guard("webhook-inside", "test_an_address_that_is_not_public_is_refused"),
        guard("webhook-tls", "test_a_public_address_is_sent_to_by_https_only"),
    ),
    *row(
        "webhooks of events of people are for admins",
        guard("webhook-people", "test_events_of_people_are_for_admins"),
    ),
)
