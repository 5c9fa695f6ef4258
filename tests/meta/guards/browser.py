"""Guards in the browser: CSRF, the content policy, cookies, redirects by ``next``, other origins."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "CSRF",
        guard("csrf", "test_every_post_of_a_page_wants_the_csrf_token"),
    ),
    *row(
        "an error page shows what was typed only if it came from leaseq's own page, and no password",
        guard("typed-here", "test_an_old_token_loses_no_words_but_those_of_another_site"),
        guard("typed-no-secret", "test_a_refused_password_is_not_shown", instead="return False"),
    ),
    *row(
        "strict CSP with nonces, no unsafe-inline",
        guard(
            "csp-nonce",
            "test_every_page_has_the_headers_and_a_nonce_of_its_own",
            instead="\"script-src\": f\"'nonce-{nonce()}' 'unsafe-inline'\",",
        ),
        guard(
            "nonce-new",
            "test_every_page_has_the_headers_and_a_nonce_of_its_own",
            instead='g.nonce = "always the same"',
        ),
        guard("frame-ancestors", "test_every_page_has_the_headers_and_a_nonce_of_its_own"),
        guard("nosniff", "test_every_page_has_the_headers_and_a_nonce_of_its_own"),
        guard("csp-sent", "test_every_page_has_the_headers_and_a_nonce_of_its_own"),
    ),
    *row(
        "cookies HttpOnly, SameSite, Secure and __Host- under TLS",
        guard(
            "host-cookie",
            "test_under_https_cookies_are_for_this_host_alone",
            instead='SESSION_COOKIE_NAME="leaseq",',
        ),
        guard(
            "httponly",
            "test_under_https_cookies_are_for_this_host_alone",
            instead="SESSION_COOKIE_HTTPONLY=False,",
        ),
        guard(
            "samesite",
            "test_under_https_cookies_are_for_this_host_alone",
            instead="SESSION_COOKIE_SAMESITE=None,",
        ),
        guard(
            "secure-cookie",
            "test_under_https_cookies_are_for_this_host_alone",
            instead="SESSION_COOKIE_SECURE=False,",
        ),
        guard("hsts", "test_under_https_cookies_are_for_this_host_alone", instead="headers = _ALWAYS"),
    ),
    *row(
        "next= only to own paths",
        guard(
            "next-slashes",
            "test_next_leads_to_own_paths_only",
            instead='is_path = target and target.startswith("/")',
        ),
        guard(
            "next-backslash",
            "test_next_leads_to_own_paths_only",
            instead="target and is_path and target.isprintable()",
        ),
        guard(
            "next-printable",
            "test_next_leads_to_own_paths_only",
            instead='target and is_path and "\\\\" not in target',
        ),
        guard(
            "next-after-factor",
            "test_the_code_is_next_to_nowhere_else",
            "test_somebody_known_comes_in_by_their_claim",
            instead="return redirect(method.next, 303)",
        ),
        guard(
            "next-after-language",
            "test_a_choice_leads_to_own_pages_only",
            instead='response = redirect(request.form.get("next") or "/", 303)',
        ),
    ),
    *row(
        "CORS for named origins",
        guard(
            "cors-origins", "test_other_origins_are_told_nothing", instead="allowed_origin = origin or None"
        ),
        guard("cors-no-cookies", "test_a_session_counts_for_our_own_pages_only"),
        guard("cors-api-only", "test_pages_are_for_no_other_origin"),
    ),
)
