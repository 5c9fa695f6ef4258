"""Who may call what: roles, holders, tokens and their scopes."""

from tests.security.guards.guard import Guard, guards

GATE, SCOPES, TOKENS = (
    "webapp/security/authorization.py",
    "webapp/security/token_scopes.py",
    "webapp/store/accounts/tokens.py",
)
ACCOUNTS, MODEL = "webapp/store/accounts/accounts.py", "webapp/store/accounts/model.py"
T_GATE, T_TOKENS = "tests/web/security/test_authorization.py", "tests/web/security/test_token_scopes.py"
T_SIGN_IN, T_AGAIN = "tests/web/auth/test_sign_in.py", "tests/web/api/test_idempotency.py"

ROLES = "default-deny roles over every route"
HOLDER = "lease actions only by their holder"
HASHES = "tokens stored as hashes"
SCOPE = "tokens: scope, queue, end"

GUARDS: tuple[Guard, ...] = (
    *guards(
        ROLES,
        GATE,
        f"{T_GATE}::test_a_route_that_declares_nothing_is_closed",
        ('raise Forbidden("this route declares no role")', "return None"),
    ),
    *guards(
        ROLES,
        GATE,
        f"{T_GATE}::test_a_role_opens_no_more_than_its_routes",
        ("if not at_least(g.person.role, need):", "if False:"),
    ),
    *guards(
        ROLES,
        GATE,
        f"{T_GATE}::test_a_stranger_gets_nowhere",
        (
            "if g.person is None:\n            return _ask_to_sign_in()",
            "if g.person is None:\n            return None",
        ),
    ),
    *guards(
        ROLES,
        "webapp/manage/queues.py",
        "tests/web/security/test_roles.py",
        ('@needs("manager")', '@needs("worker")'),
    ),
    *guards(
        HOLDER,
        "lua/finish.lua",
        "tests/web/security/test_holder.py",
        ("local claim = ARGV[3] .. '\\t' .. person .. '\\t'", "local claim = ARGV[3] .. '\\t'"),
    ),
    *guards(
        HOLDER,
        "webapp/api/models_in.py",
        "tests/web/security/test_holder.py::test_the_person_is_who_is_signed_in_and_no_field",
        (
            'model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra=no_defaults)',
            "model_config = ConfigDict(strict=True, json_schema_extra=no_defaults)",
        ),
    ),
    *guards(
        HOLDER,
        "webapp/store/idempotency.py",
        f"{T_AGAIN}::test_a_key_belongs_to_a_person_and_a_path",
        ("digest(person)[:32]", 'digest("everybody")[:32]'),
    ),
    *guards(
        "who never had an item learns nothing of it",
        "webapp/errors.py",
        "tests/web/security/test_holder.py",
        ("problem_of(_as_a_stranger_sees(error))", "problem_of(error)"),
    ),
    *guards(
        "who never had an item learns nothing of it",
        "webapp/work/lease_outcome.py",
        "tests/web/security/test_holder.py",
        ("    if grant is None:\n        return None\n", ""),
    ),
    *guards(
        HASHES,
        "webapp/store/accounts/secret.py",
        f"{T_SIGN_IN}::test_a_token_is_shown_once_and_kept_as_a_hash",
        ('return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()', "return secret"),
    ),
    *guards(
        SCOPE,
        SCOPES,
        f"{T_TOKENS}::test_every_route_is_closed_to_a_scope_that_does_not_open_it",
        ('if token.scope == "read" and method not in _SAFE:', "if False:"),
        ("if not at_least(REACH[token.scope], need):", "if False:"),
    ),
    *guards(
        SCOPE,
        SCOPES,
        f"{T_TOKENS}::test_a_token_for_one_queue_opens_no_other_and_nothing_besides",
        ("if token.queue not in (None, queue):", "if False:"),
    ),
    *guards(
        SCOPE,
        GATE,
        f"{T_TOKENS}::test_every_route_is_closed_to_a_scope_that_does_not_open_it",
        ("_stay_within(token, need)\n        if", "pass\n        if"),
    ),
    *guards(
        SCOPE,
        MODEL,
        f"{T_TOKENS}::test_a_scope_gives_no_more_than_the_role",
        ('if scope != "read" and not at_least(role, REACH[scope]):', "if False:"),
    ),
    *guards(
        SCOPE,
        TOKENS,
        f"{T_TOKENS}::test_a_token_ends_by_itself",
        ("if found.is_over(datetime.fromtimestamp(now, UTC)):", "if False:"),
    ),
    *guards(
        SCOPE,
        GATE,
        f"{T_TOKENS}::test_pages_take_no_token",
        (
            'if not in_api() or "Authorization" not in request.headers:',
            'if "Authorization" not in request.headers:',
        ),
    ),
    *guards(
        SCOPE,
        GATE,
        f"{T_GATE}::test_a_bad_token_is_not_helped_by_a_session",
        (
            '"Authorization" not in request.headers:',
            "bearer_token() is None or not accounts().caller(bearer_token()):",
        ),
    ),
    *guards(
        SCOPE,
        "webapp/auth/account.py",
        f"{T_SIGN_IN}::test_nobody_revokes_another_persons_token",
        ("accounts().revoke_token(id, by=me, person=me)", "accounts().revoke_token(id, by=me)"),
    ),
    *guards(
        SCOPE,
        ACCOUNTS,
        f"{T_SIGN_IN}::test_who_is_disabled_is_out_at_once",
        ("if found and record and not record.disabled else None", "if found and record else None"),
    ),
)
