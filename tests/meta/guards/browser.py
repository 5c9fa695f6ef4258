"""Guards in the browser: CSRF, the content policy, cookies, redirects by ``next``, other origins."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "CSRF",
        guard("csrf", "test_every_write_with_session_requires_csrf_token"),
    ),
    *row(
        "an error page shows what was typed only for a form of leaseq's own page, and no password",
        guard("typed-here", "test_stale_csrf_token_shows_form_text_only_for_own_origin"),
        guard("typed-no-secret", "test_a_refused_password_is_not_shown", instead="return False"),
    ),
    *row(
        "strict CSP with nonces, no unsafe-inline",
        guard(
            "csp-nonce",
            "test_pages_have_security_headers_and_unique_nonce",
            instead="\"script-src\": f\"'nonce-{nonce()}' 'unsafe-inline'\",",
        ),
        guard(
            "nonce-new",
            "test_pages_have_security_headers_and_unique_nonce",
            instead='g.nonce = "always the same"',
        ),
        guard("frame-ancestors", "test_pages_have_security_headers_and_unique_nonce"),
        guard("nosniff", "test_pages_have_security_headers_and_unique_nonce"),
        guard("csp-sent", "test_pages_have_security_headers_and_unique_nonce"),
    ),
    *row(
        "cookies HttpOnly, SameSite, Secure and __Host- under TLS",
        guard(
            "host-cookie",
            "test_session_cookie_over_https_has_host_prefix",
            instead='SESSION_COOKIE_NAME="leaseq",',
        ),
        guard(
            "httponly",
            "test_session_cookie_over_https_has_host_prefix",
            instead="SESSION_COOKIE_HTTPONLY=False,",
        ),
        guard(
            "samesite",
            "test_session_cookie_over_https_has_host_prefix",
            instead="SESSION_COOKIE_SAMESITE=None,",
        ),
        guard(
            "secure-cookie",
            "test_session_cookie_over_https_has_host_prefix",
            instead="SESSION_COOKIE_SECURE=False,",
        ),
        guard("hsts", "test_session_cookie_over_https_has_host_prefix", instead="headers = _ALWAYS"),
    ),
    *row(
        "next= only to own paths",
        guard(
            "next-slashes",
            "test_sign_in_redirects_only_to_local_next_path",
            instead='is_path = target and target.startswith("/")',
        ),
        guard(
            "next-backslash",
            "test_sign_in_redirects_only_to_local_next_path",
            instead="target and is_path and target.isprintable()",
        ),
        guard(
            "next-printable",
            "test_sign_in_redirects_only_to_local_next_path",
            instead='target and is_path and "\\\\" not in target',
        ),
        guard(
            "next-after-factor",
            "test_sign_in_by_code_ignores_foreign_next_url",
            "test_known_person_signs_in_by_claim",
            instead="return redirect(method.next, 303)",
        ),
        guard(
            "next-after-language",
            "test_language_choice_ignores_foreign_next_url",
            instead='response = redirect(request.form.get("next") or "/", 303)',
        ),
    ),
    *row(
        "CORS for named origins",
        guard(
            "cors-origins",
            "test_other_origins_get_no_cors_headers",
            instead="allowed_origin = origin or None",
        ),
        guard("cors-no-cookies", "test_session_is_refused_for_other_origin"),
        guard("cors-api-only", "test_pages_have_no_cors_headers"),
    ),
)
