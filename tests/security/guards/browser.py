"""What a browser is told: CSRF, the content policy, cookies, where ``next`` leads, other origins."""

from tests.security.guards.guard import Guard, guards

GATE, HEADERS, APP = "webapp/security/authorization.py", "webapp/security/headers.py", "webapp/app.py"
SIGNING, CORS = "webapp/auth/session.py", "webapp/serving/cors.py"
T_GATE, T_INERT, T_CORS = (
    "tests/web/security/test_authorization.py",
    "tests/browser/test_inert.py",
    "tests/web/serving/test_cors.py",
)
T_SIGN_IN = "tests/web/auth/test_sign_in.py"

COOKIES = "cookies HttpOnly, SameSite, Secure and __Host- under TLS"
NEXT = "next= only to own paths"
ORIGINS = "CORS for named origins"

GUARDS: tuple[Guard, ...] = (
    *guards(
        "CSRF",
        GATE,
        f"{T_GATE}::test_every_post_of_a_page_wants_the_csrf_token",
        ("    csrf.protect()\n", ""),
    ),
    *guards(
        "strict CSP with nonces, no unsafe-inline",
        HEADERS,
        f"{T_GATE}::test_every_page_has_the_headers_and_a_nonce_of_its_own",
        ('''f"'nonce-{nonce()}'"''', '''f"'nonce-{nonce()}' 'unsafe-inline'"'''),
        ("g.nonce = secrets.token_urlsafe(16)", 'g.nonce = "always the same"'),
        ('"frame-ancestors": "\'none\'",', ""),
        ('"X-Content-Type-Options": "nosniff",', ""),
    ),
    *guards(
        "strict CSP with nonces, no unsafe-inline",
        HEADERS,
        f"{T_INERT}::test_a_script_that_got_into_a_page_would_not_run",
        ('response.headers.setdefault("Content-Security-Policy", policy())', "pass"),
    ),
    *guards(
        COOKIES,
        APP,
        f"{T_GATE}::test_under_https_cookies_are_for_this_host_alone",
        ('"__Host-leaseq" if secure else "leaseq"', '"leaseq"'),
        ("SESSION_COOKIE_HTTPONLY=True", "SESSION_COOKIE_HTTPONLY=False"),
        ('SESSION_COOKIE_SAMESITE="Lax"', "SESSION_COOKIE_SAMESITE=None"),
        ("SESSION_COOKIE_SECURE=secure", "SESSION_COOKIE_SECURE=False"),
    ),
    *guards(
        COOKIES,
        HEADERS,
        f"{T_GATE}::test_under_https_cookies_are_for_this_host_alone",
        ("if state().settings.secure_cookies:", "if False:"),
    ),
    *guards(
        NEXT,
        SIGNING,
        f"{T_SIGN_IN}::test_next_leads_to_own_paths_only",
        ('and target.startswith("/") and not target.startswith("//")', 'and target.startswith("/")'),
        (
            'if target and own and "\\\\" not in target and target.isprintable():',
            "if target and own and target.isprintable():",
        ),
        ('own and "\\\\" not in target and target.isprintable():', 'own and "\\\\" not in target:'),
    ),
    *guards(
        NEXT,
        SIGNING,
        "tests/web/auth/test_factor.py::test_the_code_is_next_to_nowhere_else"
        " tests/web/auth/test_oidc.py::test_somebody_known_comes_in_by_their_claim",
        ("return redirect(own_path(way.next), 303)", "return redirect(way.next, 303)"),
    ),
    *guards(
        NEXT,
        "webapp/auth/language.py",
        "tests/web/auth/test_language.py::test_a_choice_leads_to_own_pages_only",
        ('own_path(request.form.get("next"))', 'request.form.get("next") or "/"'),
    ),
    *guards(
        ORIGINS,
        CORS,
        f"{T_CORS}::test_other_origins_are_told_nothing",
        ("named = origin if origin in self._origins else None", "named = origin or None"),
    ),
    *guards(
        ORIGINS,
        CORS,
        f"{T_CORS}::test_a_session_counts_for_our_own_pages_only",
        ('environ.pop("HTTP_COOKIE", None)', "pass"),
    ),
    *guards(
        ORIGINS,
        CORS,
        f"{T_CORS}::test_pages_are_for_no_other_origin",
        ('if not environ.get("PATH_INFO", "").startswith("/api/"):', "if False:"),
    ),
)
