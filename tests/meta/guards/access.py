"""Guards of access: roles, lease holders, tokens and their scopes."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "default-deny roles over every route",
        guard("default-deny", "test_route_without_declared_role_is_forbidden", instead="return None"),
        guard("role-of-the-route", "test_role_is_refused_on_routes_of_higher_roles"),
        guard(
            "stranger-signs-in",
            "test_request_without_sign_in_reaches_only_open_routes",
            instead="return None",
        ),
        guard(
            "manager-of-queues", "test_manager_and_admin_pages_require_their_role", instead='@needs("worker")'
        ),
    ),
    *row(
        "lease actions only by their holder",
        guard(
            "lease-of-its-holder",
            "test_rest_refuses_action_on_lease_of_another_person",
            instead="  return grant ~= nil and grant.token == token",
        ),
        guard(
            "no-unknown-fields",
            "test_reserve_uses_signed_in_person_and_refuses_person_field",
            instead="model_config = ConfigDict(strict=True, json_schema_extra=no_defaults)",
        ),
        guard(
            "key-of-a-person",
            "test_idempotency_key_is_scoped_to_person_and_path",
            instead='return "leaseq:{@sent:" + digest("everybody")[:32] + "}:"',
        ),
    ),
    *row(
        "an item is hidden from people who never held it",
        guard("item-of-its-holder", "test_worker_reads_item_over_rest_only_while_holding_it"),
        guard(
            "stranger-learns-nothing",
            "test_rest_hides_existence_of_item_from_non_holder",
            "test_pages_hide_existence_of_item_from_non_holder",
            instead="handle(leaseq.LeaseqError, lambda error: problem_of(error))",
        ),
        guard(
            "no-grant-no-answer",
            "test_pages_refuse_action_on_lease_of_another_person",
        ),
    ),
    *row(
        "access to queues, for pages and REST",
        guard("queue-work", "test_queue_routes_return_404_without_access"),
        guard("webhooks-queue", "test_webhooks_queue_is_for_admins_only"),
        guard("queue-all", "test_routes_about_all_queues_require_access_to_all"),
        guard("webhooks-all", "test_disabled_webhooks_are_shown_only_to_managers_of_all_queues"),
        guard("queue-manage", "test_admins_and_named_people_have_access"),
        guard("demo-of-others", "test_demo_is_not_added_to_queue_without_access"),
        guard("closed-waits-in-vain", "test_person_losing_access_or_token_while_waiting_gets_no_item"),
    ),
    *row(
        "tokens stored as hashes",
        guard("token-hashed", "test_a_token_is_shown_once_and_kept_as_a_hash", instead="return secret"),
    ),
    *row(
        "tokens limited by scope, queue and expiry",
        guard("scope-reads-only", "test_routes_refuse_tokens_of_insufficient_scope"),
        guard("scope-role", "test_routes_refuse_tokens_of_insufficient_scope"),
        guard("token-queue", "test_token_for_one_queue_is_refused_elsewhere"),
        guard("token-within", "test_routes_refuse_tokens_of_insufficient_scope"),
        guard("scope-of-the-role", "test_token_scope_does_not_exceed_role_of_person"),
        guard("token-end", "test_token_expires_after_its_days"),
        guard(
            "api-only-tokens",
            "test_pages_do_not_accept_tokens",
            instead='"Authorization" not in request.headers',
        ),
        guard(
            "bad-token-stays-bad",
            "test_invalid_token_is_refused_despite_session",
            instead="header is None or not in_api() or not accounts().caller(bearer_token(header) or '')",
        ),
        guard(
            "own-tokens",
            "test_nobody_revokes_another_persons_token",
            instead="token = accounts().revoke_token(id, by=name)",
        ),
        guard("token-grants", "test_token_creates_only_tokens_within_own_scope"),
        guard("token-outlives", "test_created_token_does_not_outlive_creating_token"),
        guard("token-rotates-later", "test_short_lived_token_may_not_rotate_longer_lived_token"),
        guard("token-revokes-wider", "test_narrower_token_may_not_revoke_wider_token"),
        guard("token-by-token", "test_session_may_not_create_token_over_rest"),
        guard("tokens-of-others", "test_tokens_of_others_require_admin_over_rest"),
        guard(
            "tokens-of-others-by-id", "test_tokens_of_others_require_admin_over_rest", instead="owner = None"
        ),
        guard(
            "disabled-is-out",
            "test_disabled_person_loses_session_and_token_immediately",
            instead="return Caller(record.person(), token) if record else None",
        ),
    ),
)
