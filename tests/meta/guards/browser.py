"""Guards in the browser: CSRF, the content policy, cookies, redirects by ``next``, other origins."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "CSRF",
        guard("csrf", "webapp/security/authorization.py", "csrf.protect()", instead="pass"),
    ),
    *row(
        "an error page shows what was typed only for a form of leaseq's own page, and no password",
        guard(
            "typed-here",
            "webapp/form_input.py",
            "not fields or not (_is_same_origin() or _has_token())",
            instead="False",
        ),
        guard(
            "typed-no-secret",
            "webapp/form_input.py",
            'return name == "code" or "password" in name.partition(".")[0]',
            instead="return False",
        ),
    ),
    *row(
        "strict CSP with nonces, no unsafe-inline",
        guard(
            "csp-nonce",
            "webapp/security/headers.py",
            '"script-src": f"\'nonce-{nonce()}\'",',
            instead="\"script-src\": f\"'nonce-{nonce()}' 'unsafe-inline'\",",
        ),
        guard(
            "nonce-new",
            "webapp/security/headers.py",
            "g.nonce = secrets.token_urlsafe(16)",
            instead='g.nonce = "always the same"',
        ),
        guard("frame-ancestors", "webapp/security/headers.py", '"frame-ancestors": "\'none\'",'),
        guard("nosniff", "webapp/serving/middleware.py", '"X-Content-Type-Options": "nosniff",'),
        guard(
            "csp-sent",
            "webapp/security/headers.py",
            'response.headers["Content-Security-Policy"] = policy()',
            instead="pass",
        ),
    ),
    *row(
        "cookies HttpOnly, SameSite, Secure and __Host- under TLS",
        guard(
            "host-cookie",
            "webapp/app.py",
            'SESSION_COOKIE_NAME="__Host-leaseq" if secure else "leaseq",',
            instead='SESSION_COOKIE_NAME="leaseq",',
        ),
        guard(
            "httponly",
            "webapp/app.py",
            "SESSION_COOKIE_HTTPONLY=True,",
            instead="SESSION_COOKIE_HTTPONLY=False,",
        ),
        guard(
            "samesite",
            "webapp/app.py",
            'SESSION_COOKIE_SAMESITE="Lax",',
            instead="SESSION_COOKIE_SAMESITE=None,",
        ),
        guard(
            "secure-cookie",
            "webapp/app.py",
            "SESSION_COOKIE_SECURE=secure,",
            instead="SESSION_COOKIE_SECURE=False,",
        ),
        guard(
            "hsts",
            "webapp/serving/middleware.py",
            "headers = _ALWAYS | (_STRICT_TRANSPORT if https else {})",
            instead="headers = _ALWAYS",
        ),
    ),
    *row(
        "next= only to own paths",
        guard(
            "next-slashes",
            "webapp/auth/session.py",
            'is_path = target and target.startswith("/") and not target.startswith("//")',
            instead='is_path = target and target.startswith("/")',
        ),
        guard(
            "next-backslash",
            "webapp/auth/session.py",
            'target and is_path and "\\\\" not in target and target.isprintable()',
            instead="target and is_path and target.isprintable()",
        ),
        guard(
            "next-printable",
            "webapp/auth/session.py",
            'target and is_path and "\\\\" not in target and target.isprintable()',
            instead='target and is_path and "\\\\" not in target',
        ),
        guard(
            "next-after-factor",
            "webapp/auth/session.py",
            "return redirect(local_path(method.next), 303)",
            instead="return redirect(method.next, 303)",
        ),
        guard(
            "next-after-language",
            "webapp/auth/session.py",
            'response = redirect(local_path(request.form.get("next")), 303)',
            instead='response = redirect(request.form.get("next") or "/", 303)',
        ),
    ),
    *row(
        "CORS for named origins",
        guard(
            "cors-origins",
            "webapp/serving/middleware.py",
            "allowed_origin = origin if origin in self._origins else None",
            instead="allowed_origin = origin or None",
        ),
        guard(
            "cors-no-cookies",
            "webapp/serving/middleware.py",
            'environ.pop("HTTP_COOKIE", None)',
            instead="pass",
        ),
        guard(
            "cors-api-only",
            "webapp/serving/middleware.py",
            'not environ.get("PATH_INFO", "").startswith("/api/")',
            instead="False",
        ),
    ),
)
