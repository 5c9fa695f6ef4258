"""Guards of access: roles, lease holders, tokens and their scopes."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "default-deny roles over every route",
        guard(
            "default-deny",
            "webapp/security/authorization.py",
            'raise Problem.of(403, "forbidden", "forbidden", what="route")',
            instead="return None",
        ),
        guard(
            "role-of-the-route",
            "webapp/security/authorization.py",
            "not at_least(person.role, needs.role)",
            instead="False",
        ),
        guard(
            "stranger-signs-in",
            "webapp/security/authorization.py",
            "return _ask_to_sign_in()",
            instead="return None",
        ),
        guard(
            "manager-of-queues",
            "webapp/manage/dashboard.py",
            '@bp.post("/manage")\n@needs("manager")',
            instead='@bp.post("/manage")\n@needs("worker")',
        ),
    ),
    *row(
        "lease actions only by their holder",
        guard(
            "lease-of-its-holder",
            "lua/lib/grants.lua",
            "return grant ~= nil and grant.token == token and grant.person == person end",
            instead="return grant ~= nil and grant.token == token end",
        ),
        guard(
            "no-unknown-fields",
            "webapp/api/models/requests.py",
            'model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra=no_defaults)',
            instead="model_config = ConfigDict(strict=True, json_schema_extra=no_defaults)",
        ),
        guard(
            "key-of-a-person",
            "webapp/store/idempotency.py",
            'return _BASE + digest(person)[:32] + "}:"',
            instead='return "leaseq:{@sent:" + digest("everybody")[:32] + "}:"',
        ),
    ),
    *row(
        "an item is hidden from people who never held it",
        guard(
            "item-of-its-holder",
            "webapp/api/items.py",
            "not any(lease.id == id for lease in queue.mine(name))",
            instead="False",
        ),
        guard(
            "stranger-learns-nothing",
            "webapp/errors.py",
            "handle(leaseq.LeaseqError, lambda error: problem_of(_hide_from_stranger(error)))",
            instead="handle(leaseq.LeaseqError, lambda error: problem_of(error))",
        ),
        guard("no-grant-no-answer", "webapp/work/view.py", "grant is None", instead="False"),
    ),
    *row(
        "access to queues, for pages and REST",
        guard(
            "queue-work",
            "webapp/security/authorization.py",
            "not access.lets_work(person) and not needs.makes_queue",
            instead="False",
        ),
        guard("webhooks-queue", "webapp/store/queue_access.py", "queue == webhooks.QUEUE", instead="False"),
        guard(
            "queue-all",
            "webapp/security/authorization.py",
            "needs.all_queues and not state().access.lets_manage_all(person)",
            instead="False",
        ),
        guard(
            "webhooks-all",
            "webapp/manage/dashboard.py",
            "not state().access.lets_manage_all(person())",
            instead="False",
        ),
        guard(
            "queue-manage",
            "webapp/security/authorization.py",
            'needs.role != "worker" and not access.lets_manage(person)',
            instead="False",
        ),
        guard(
            "demo-of-others",
            "webapp/manage/importing/new_queue.py",
            "not may_manage(demo.QUEUE)",
            instead="False",
        ),
        guard(
            "closed-waits-in-vain",
            "webapp/services/leases.py",
            "not state().access.read(lease.queue).lets_work(account)",
            instead="False",
        ),
    ),
    *row(
        "tokens stored as hashes",
        guard(
            "token-hashed",
            "webapp/store/accounts/model.py",
            'return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()',
            instead="return secret",
        ),
    ),
    *row(
        "tokens limited by scope, queue and expiry",
        guard(
            "scope-reads-only",
            "webapp/security/authorization.py",
            'token.scope == "read" and method not in _SAFE',
            instead="False",
        ),
        guard(
            "scope-role",
            "webapp/security/authorization.py",
            "not (is_named if is_narrow else at_least(HIGHEST_ROLE[token.scope], need))",
            instead="False",
        ),
        guard(
            "token-queue",
            "webapp/security/authorization.py",
            "token.queue not in (None, queue)",
            instead="False",
        ),
        guard(
            "token-within",
            "webapp/security/authorization.py",
            "_check_scope(this_request, token, needs)",
            instead="pass",
        ),
        guard(
            "scope-of-the-role",
            "webapp/store/accounts/model.py",
            "scope not in scopes_of(role)",
            instead="False",
        ),
        guard(
            "token-end",
            "webapp/store/accounts/tokens.py",
            "return None if entry.caller.token.is_over(now) else entry.caller",
            instead="pass",
        ),
        guard(
            "api-only-tokens",
            "webapp/security/authorization.py",
            "header is None or not in_api()",
            instead='"Authorization" not in request.headers',
        ),
        guard(
            "bad-token-stays-bad",
            "webapp/security/authorization.py",
            "header is None or not in_api()",
            instead="header is None or not in_api() or not accounts().callers.find(bearer_token(header) or '')",
        ),
        guard(
            "own-tokens",
            "webapp/auth/account.py",
            "token = accounts().revoke_token(id, by=name, person=name)",
            instead="token = accounts().revoke_token(id, by=name)",
        ),
        guard(
            "token-grants",
            "webapp/api/tokens.py",
            "not may_grant(caller, scope, person().role)",
            instead="False",
        ),
        guard(
            "token-outlives",
            "webapp/api/tokens.py",
            "_ends_before(caller, now + timedelta(days=days))",
            instead="False",
        ),
        guard(
            "token-rotates-later",
            "webapp/api/tokens.py",
            "_ends_before(caller, token.expires_at)",
            instead="False",
        ),
        guard(
            "token-revokes-wider",
            "webapp/api/tokens.py",
            "        _check_scope(caller, token.scope)",
            instead="        pass",
        ),
        guard("token-by-token", "webapp/api/tokens.py", "    if token is None", instead="    if False"),
        guard("tokens-of-others", "webapp/api/tokens.py", "not _acts_as_admin()", instead="False"),
        guard(
            "tokens-of-others-by-id",
            "webapp/api/tokens.py",
            "owner = None if _acts_as_admin() else person().name",
            instead="owner = None",
        ),
        guard(
            "disabled-is-out",
            "webapp/store/accounts/tokens.py",
            "return Caller(record.person(), token) if record and not record.disabled else None",
            instead="return Caller(record.person(), token) if record else None",
        ),
    ),
)
