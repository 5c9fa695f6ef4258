"""The security table: for each row what guards it, and the tests that notice when the guard is gone.

``python -m tests.security.remove_guards`` takes the guards out one by one, in a copy of the tree, and says
which tests noticed. ``test_guards.py`` keeps this list true to the code.
"""

from __future__ import annotations

from dataclasses import dataclass

GATE, SHOW, STRICT = "webapp/gate.py", "webapp/show.py", "leaseq/strict.py"
HEADERS, APP, SIGNING = "webapp/headers.py", "webapp/app.py", "webapp/auth/signing.py"
T_GATE, T_SIGN_IN = "tests/web/test_gate.py", "tests/web/test_sign_in.py"
T_SHOWN, T_INERT = "tests/web/test_shown.py", "tests/browser/test_inert.py"
T_LOGS, T_SETTINGS = "tests/web/test_logs.py", "tests/web/test_settings.py"
T_SESSIONS = "tests/security/test_accounts_sessions.py"
T_PASSWORDS = "tests/security/test_accounts_passwords.py"
T_BODIES, T_ACCOUNTS = "tests/web/test_api_bad_input.py", "tests/web/test_accounts.py"


@dataclass(frozen=True, slots=True)
class Guard:
    """A piece of a file that keeps somebody out; with ``instead`` in its place it does not."""

    row: str
    file: str
    piece: str
    instead: str
    test: str  # as pytest names it; several with spaces between


GUARDS = (
    Guard(
        "default-deny roles over every route",
        GATE,
        'raise Forbidden("this route declares no role")',
        "return None",
        f"{T_GATE}::test_a_route_that_declares_nothing_is_closed",
    ),
    Guard(
        "default-deny roles over every route",
        GATE,
        "if not at_least(g.person.role, need):",
        "if False:",
        f"{T_GATE}::test_a_role_opens_no_more_than_its_routes",
    ),
    Guard(
        "default-deny roles over every route",
        GATE,
        "if g.person is None:\n            return _ask_to_sign_in()",
        "if g.person is None:\n            return None",
        f"{T_GATE}::test_a_stranger_gets_nowhere",
    ),
    Guard(
        "default-deny roles over every route",
        "webapp/manage/queues.py",
        '@needs("manager")',
        '@needs("worker")',
        "tests/security/test_roles.py",
    ),
    Guard(
        "lease actions only by their holder",
        "lua/finish.lua",
        "local claim = ARGV[3] .. '\\t' .. person .. '\\t'",
        "local claim = ARGV[3] .. '\\t'",
        "tests/security/test_holder.py",
    ),
    Guard(
        "CSRF", GATE, "    csrf.protect()\n", "", f"{T_GATE}::test_every_post_of_a_page_wants_the_csrf_token"
    ),
    Guard(
        "strict CSP with nonces",
        HEADERS,
        """"script-src": f"'nonce-{nonce()}'",""",
        """"script-src": f"'nonce-{nonce()}' 'unsafe-inline'",""",
        f"{T_GATE}::test_every_page_has_the_headers_and_a_nonce_of_its_own",
    ),
    Guard(
        "strict CSP with nonces",
        HEADERS,
        'response.headers.setdefault("Content-Security-Policy", policy())',
        "pass",
        f"{T_INERT}::test_a_script_that_got_into_a_page_would_not_run",
    ),
    Guard(
        "cookies",
        APP,
        '"__Host-leaseq" if secure else "leaseq"',
        '"leaseq"',
        f"{T_GATE}::test_under_https_cookies_are_for_this_host_alone",
    ),
    Guard(
        "cookies",
        APP,
        "SESSION_COOKIE_HTTPONLY=True",
        "SESSION_COOKIE_HTTPONLY=False",
        f"{T_GATE}::test_under_https_cookies_are_for_this_host_alone",
    ),
    Guard(
        "cookies",
        APP,
        'SESSION_COOKIE_SAMESITE="Lax"',
        "SESSION_COOKIE_SAMESITE=None",
        f"{T_GATE}::test_under_https_cookies_are_for_this_host_alone",
    ),
    Guard(
        "cookies",
        APP,
        "SESSION_COOKIE_SECURE=secure",
        "SESSION_COOKIE_SECURE=False",
        f"{T_GATE}::test_under_https_cookies_are_for_this_host_alone",
    ),
    Guard(
        "a session ends everywhere",
        SIGNING,
        "accounts().sessions.end(known)",
        "pass",
        f"{T_SESSIONS}::test_a_copied_cookie_is_worth_nothing_once_the_session_ended",
    ),
    Guard(
        "a session ends everywhere",
        "webapp/accounts/sessions.py",
        "if person.disabled or str(person.version) != named.version:",
        "if person.disabled:",
        f"{T_SIGN_IN}::test_a_changed_password_ends_the_other_sessions",
    ),
    Guard(
        "a session ends everywhere",
        "webapp/accounts/accounts.py",
        "end_sessions=bool(disabled)",
        "end_sessions=False",
        f"{T_SIGN_IN}::test_who_is_disabled_is_out_at_once",
    ),
    Guard(
        "log-in limited by person and address",
        "webapp/accounts/attempts.py",
        'return [(digest(f"name {address} {name}"), PER_NAME), (digest(f"address {address}"), PER_ADDRESS)]',
        'return [(digest(f"address {address}"), PER_ADDRESS)]',
        f"{T_SIGN_IN}::test_failed_sign_ins_are_limited_by_name_and_address",
    ),
    Guard(
        "log-in limited by person and address",
        "webapp/accounts/attempts.py",
        'return [(digest(f"name {address} {name}"), PER_NAME), (digest(f"address {address}"), PER_ADDRESS)]',
        'return [(digest(f"name {address} {name}"), PER_NAME)]',
        f"{T_SIGN_IN}::test_failed_sign_ins_are_limited_by_address",
    ),
    Guard(
        "same answer and time for unknown people",
        "webapp/accounts/passwords.py",
        "self._hasher.verify(kept or self._nobody, password",
        "kept and self._hasher.verify(kept, password",
        f"{T_SIGN_IN}::test_an_unknown_name_costs_a_hash_as_well",
    ),
    Guard(
        "same answer and time for unknown people",
        "webapp/auth/login.py",
        '_("The name or the password is wrong.")',
        '_("The password is wrong.") if accounts().find(name) else _("There is nobody of that name.")',
        f"{T_SIGN_IN}::test_a_wrong_password_and_an_unknown_name_get_the_same_answer",
    ),
    Guard(
        "argon2id, lengths, common passwords",
        "webapp/accounts/passwords.py",
        "PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)",
        "PasswordHasher(time_cost=1, memory_cost=1_024, parallelism=1)",
        f"{T_ACCOUNTS}::test_passwords_are_argon2id_at_the_cost_that_owasp_asks",
    ),
    Guard(
        "argon2id, lengths, common passwords",
        "webapp/accounts/passwords.py",
        "not MIN_PASSWORD <= len(password) <= MAX_PASSWORD",
        "not password",
        f"{T_SIGN_IN}::test_a_refused_password_changes_nothing",
    ),
    Guard(
        "argon2id, lengths, common passwords",
        "webapp/accounts/passwords.py",
        "if is_bad_password(password) or (len(plain) >= MIN_PASSWORD and is_bad_password(plain)):",
        "if False:",
        T_PASSWORDS,
    ),
    Guard(
        "no default password",
        "webapp/accounts/passwords.py",
        "return kept is not None",
        "return True",
        "tests/security/test_no_default.py",
    ),
    Guard(
        "no default password",
        "webapp/accounts/joining.py",
        "return kept is not None and hmac.compare_digest(kept, digest(token).encode())",
        "return kept is not None",
        "tests/security/test_no_default.py",
    ),
    Guard(
        "tokens as hashes",
        "webapp/accounts/secret.py",
        'return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()',
        "return secret",
        f"{T_SIGN_IN}::test_a_token_is_shown_once_and_kept_as_a_hash",
    ),
    Guard(
        "next= only own paths",
        SIGNING,
        'own = target and target.startswith("/") and not target.startswith("//")',
        'own = target and target.startswith("/")',
        f"{T_SIGN_IN}::test_next_leads_to_own_paths_only",
    ),
    Guard(
        "next= only own paths",
        SIGNING,
        'if target and own and "\\\\" not in target and target.isprintable():',
        "if target and own and target.isprintable():",
        f"{T_SIGN_IN}::test_next_leads_to_own_paths_only",
    ),
    Guard(
        "payloads and markdown inert",
        SHOW,
        "nh3.clean(_markdown.render(str(text)), tags=_TAGS)",
        "str(text)",
        f"{T_SHOWN}::test_markdown_is_harmless {T_INERT}::test_on_the_work_page_and_the_managers_pages",
    ),
    Guard(
        "payloads and markdown inert",
        SHOW,
        'if parts.scheme in ("http", "https") and parts.netloc else None',
        "if parts.scheme else None",
        f"{T_INERT}::test_on_the_work_page_and_the_managers_pages",
    ),
    Guard(
        "payloads and markdown inert",
        "webapp/templates/show.html",
        '<p class="text" dir="auto">{{ one.value if one.value is string else one.value|pretty }}</p>',
        '<p class="text" dir="auto">{{ one.value|safe }}</p>',
        f"{T_INERT}::test_on_the_work_page_and_the_managers_pages {T_SHOWN}",
    ),
    Guard(
        "images only of allowed origins",
        SHOW,
        'return link if f"{parts.scheme}://{parts.netloc}" in state().settings.media_origins else None',
        "return link",
        f"{T_SHOWN}::test_media_come_from_named_origins_only",
    ),
    Guard(
        "CSV cells neutralised",
        "leaseq/transfer/cells.py",
        "if value.startswith(_RUNS) and not _NUMBER.fullmatch(value):",
        "if False:",
        "tests/transfer/test_writing.py::test_what_a_spreadsheet_would_run_gets_an_apostrophe",
    ),
    Guard(
        "body, JSON depth and number limits",
        APP,
        "MAX_CONTENT_LENGTH=settings.max_body_bytes,",
        "MAX_CONTENT_LENGTH=None,",
        f"{T_BODIES}::test_a_body_that_is_too_large",
    ),
    Guard(
        "body, JSON depth and number limits",
        STRICT,
        "    check_depth(value, field)\n    return value",
        "    return value",
        f"{T_BODIES}::test_a_body_that_is_no_good",
    ),
    Guard(
        "body, JSON depth and number limits",
        STRICT,
        'if len(digits) - digits.startswith("-") > MAX_INTEGER_DIGITS:',
        "if False:",
        "tests/ground/test_json.py::test_whole_numbers_have_one_limit_both_ways",
    ),
    Guard(
        "X-Forwarded-* only from configured proxies",
        "webapp/proxies.py",
        "return any(found in network for network in self._networks)",
        "return True",
        f"{T_GATE}::test_forwarded_headers_are_believed_from_configured_proxies_only",
    ),
    Guard(
        "X-Forwarded-* only from configured proxies",
        "webapp/observing.py",
        "if came_by_proxy(environ) and _ID.fullmatch(given):",
        "if _ID.fullmatch(given):",
        f"{T_LOGS}::test_an_id_is_taken_from_a_configured_proxy_only",
    ),
    Guard(
        "X-Forwarded-* only from configured proxies",
        "webapp/serving.py",
        'forwarded_allow_ips = ""',
        'forwarded_allow_ips = "*"',
        "tests/security/test_forwarded.py",
    ),
    Guard(
        "log lines escaped",
        "webapp/logs.py",
        "escaped(record.getMessage())",
        "record.getMessage()",
        f"{T_LOGS}::test_nothing_forges_a_line",
    ),
    Guard(
        "weak or missing LEASEQ_SECRET_KEY refused",
        "webapp/settings.py",
        "if secret is not None and len(secret) < MIN_SECRET:",
        "if False:",
        f"{T_SETTINGS}::test_a_bad_setting_is_named",
    ),
    Guard(
        "weak or missing LEASEQ_SECRET_KEY refused",
        "webapp/settings.py",
        "if secret is not None and _is_weak(secret):",
        "if False:",
        f"{T_SETTINGS}::test_a_bad_setting_is_named",
    ),
    Guard(
        "remote $ref refused",
        "leaseq/form.py",
        '    raise ValueError(f"a reference may not leave the schema ({uri})")',
        "    return True",
        "tests/engine/test_bad_input.py::test_it_is_refused_by_name_and_nothing_changes",
    ),
)
