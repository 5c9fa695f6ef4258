"""Guards of access: roles, lease holders, tokens and their scopes."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "default-deny roles over every route",
        guard("default-deny", "test_a_route_that_declares_nothing_is_closed", instead="return None"),
        guard("role-of-the-route", "test_a_role_opens_no_more_than_its_routes"),
        guard("stranger-signs-in", "test_a_stranger_gets_nowhere", instead="return None"),
        guard(
            "manager-of-queues", "test_pages_of_managers_and_admins_are_theirs", instead='@needs("worker")'
        ),
    ),
    *row(
        "lease actions only by their holder",
        guard(
            "lease-of-its-holder",
            "test_over_rest",
            instead="  return grant ~= nil and grant.token == token",
        ),
        guard(
            "no-unknown-fields",
            "test_the_person_is_who_is_signed_in_and_no_field",
            instead="model_config = ConfigDict(strict=True, json_schema_extra=no_defaults)",
        ),
        guard(
            "key-of-a-person",
            "test_a_key_belongs_to_a_person_and_a_path",
            instead='return "leaseq:{@sent:" + digest("everybody")[:32] + "}:"',
        ),
    ),
    *row(
        "who never had an item learns nothing of it",
        guard("item-of-its-holder", "test_a_worker_reads_the_item_while_they_hold_it"),
        guard(
            "stranger-learns-nothing",
            "test_over_rest_a_stranger_learns_nothing_of_an_item",
            "test_on_the_pages_a_stranger_learns_nothing_of_an_item",
            instead="handle(leaseq.LeaseqError, lambda error: problem_of(error))",
        ),
        guard(
            "no-grant-no-answer",
            "test_on_the_pages",
        ),
    ),
    *row(
        "access to queues, for pages and REST",
        guard("queue-work", "test_each_route_of_a_queue_is_not_there_for_who_has_no_access"),
        guard("webhooks-queue", "test_the_queue_of_webhooks_is_for_admins"),
        guard("queue-all", "test_what_is_of_all_queues_is_for_those_who_may_manage_all"),
        guard("webhooks-all", "test_disabled_webhooks_are_shown_to_those_who_may_manage_all"),
        guard("queue-manage", "test_an_admin_and_who_is_named_have_access"),
        guard("demo-of-others", "test_the_demo_is_added_to_no_queue_of_others"),
        guard("closed-waits-in-vain", "test_who_loses_access_or_their_token_while_they_wait_gets_nothing"),
    ),
    *row(
        "tokens stored as hashes",
        guard("token-hashed", "test_a_token_is_shown_once_and_kept_as_a_hash", instead="return secret"),
    ),
    *row(
        "tokens: scope, queue, end",
        guard("scope-reads-only", "test_every_route_is_closed_to_a_scope_that_does_not_open_it"),
        guard("scope-role", "test_every_route_is_closed_to_a_scope_that_does_not_open_it"),
        guard("token-queue", "test_a_token_for_one_queue_opens_no_other_and_nothing_besides"),
        guard("token-within", "test_every_route_is_closed_to_a_scope_that_does_not_open_it"),
        guard("scope-of-the-role", "test_a_scope_gives_no_more_than_the_role"),
        guard("token-end", "test_a_token_ends_by_itself"),
        guard(
            "api-only-tokens", "test_pages_take_no_token", instead='"Authorization" not in request.headers'
        ),
        guard(
            "bad-token-stays-bad",
            "test_a_bad_token_is_not_helped_by_a_session",
            instead="header is None or not in_api() or not accounts().caller(bearer_token(header) or '')",
        ),
        guard(
            "own-tokens",
            "test_nobody_revokes_another_persons_token",
            instead="token = accounts().revoke_token(id, by=name)",
        ),
        guard("token-grants", "test_a_token_hands_on_no_more_than_it_has"),
        guard("token-outlives", "test_a_token_does_not_outlive_the_one_that_made_it"),
        guard(
            "token-rotates-later", "test_a_token_is_not_kept_alive_by_the_secret_of_one_that_expires_later"
        ),
        guard("token-revokes-wider", "test_a_wider_token_is_not_revoked_by_a_narrower"),
        guard("token-by-token", "test_a_session_creates_no_token"),
        guard("tokens-of-others", "test_others_tokens_are_for_admins"),
        guard("tokens-of-others-by-id", "test_others_tokens_are_for_admins", instead="owner = None"),
        guard(
            "disabled-is-out",
            "test_who_is_disabled_is_out_at_once",
            instead="return Caller(record.person(), token) if record else None",
        ),
    ),
)
