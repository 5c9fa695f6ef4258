"""Guards of sign-in: limits on attempts, equal answers for unknown people, accepted passwords."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "login limited by person and address",
        guard(
            "limit-by-name",
            "test_failed_sign_ins_are_limited_by_name_and_address",
            instead='return [(digest(f"address {place}"), PER_ADDRESS)]',
        ),
        guard(
            "limit-by-address",
            "test_failed_sign_ins_are_limited_by_address",
            instead='return [(digest(f"name {place} {name}"), PER_NAME)]',
        ),
        guard("ipv6-network", "test_addresses_of_ipv6_network_share_counters", instead="place = address"),
        guard(
            "limit-refuses",
            "test_failed_sign_ins_are_limited_by_name_and_address",
            "test_current_password_attempts_in_session_are_limited",
            "test_password_attempts_on_link_page_are_limited",
        ),
    ),
    *row(
        "same answer and time for unknown people",
        guard(
            "unknown-costs-a-hash",
            "test_unknown_name_costs_one_password_hash",
            instead="stored_hash and self._hasher.verify(stored_hash, password[: MAX_PASSWORD + 1])",
        ),
        guard(
            "disabled-costs-a-hash",
            "test_known_unknown_and_disabled_people_cost_one_hash_each",
            instead="record.disabled or not self._passwords.matches(password, record.password)",
        ),
        guard(
            "same-answer",
            "test_wrong_password_and_unknown_name_get_same_response",
            instead='return login_page(target, name, "wrong" if accounts().find(name) else "unknown"), 401',
        ),
    ),
    *row(
        "argon2id, length 10–128, a list of common passwords",
        guard(
            "argon2-cost",
            "test_passwords_are_hashed_by_argon2id_at_owasp_cost",
            instead="self._hasher = hasher or PasswordHasher(time_cost=1, memory_cost=1_024, parallelism=1)",
        ),
        guard(
            "password-length",
            "test_a_refused_password_changes_nothing",
            instead="not isinstance(password, str) or not password",
        ),
        guard(
            "common-passwords",
            "test_weak_password_is_refused_by_every_call",
        ),
        guard(
            "password-without-name",
            "test_weak_password_is_refused_by_every_call",
        ),
        guard(
            "rehash-undoes-nothing",
            "test_rehash_does_not_overwrite_newer_password",
            instead="self._people.change(name, password=new_hash)",
        ),
    ),
    *row(
        "no default password",
        guard("no-password-no-match", "test_missing_hash_matches_no_password", instead="return True"),
        guard("setup-token", "test_setup_requires_printed_link", instead="value is None"),
        guard("first-admin-once", "test_first_admin_is_set_up_once"),
        guard("setup-closed", "test_setup_link_ends_when_admin_exists"),
    ),
    *row(
        "sign-ins are logged without what was typed, and the person sees them at the next one",
        guard(
            "failed-name-shortened",
            "test_password_typed_as_name_is_not_stored",
            instead='self._log.write("", "sign-in.failed", name, f"{method}, {address}")',
        ),
        guard(
            "limited-name-shortened",
            "test_password_typed_as_name_is_not_stored",
            instead='self._log.write("", "sign-in.limited", name, f"{method}, {address}")',
        ),
        guard(
            "sign-ins-apart",
            "test_failed_sign_ins_do_not_evict_log_of_changes",
            instead="stream = keys.LOG",
        ),
        guard("failed-in-log", "test_successful_failed_and_limited_sign_ins_are_logged"),
        guard("limited-in-log", "test_successful_failed_and_limited_sign_ins_are_logged"),
        guard("told-at-sign-in", "test_notice_of_events_since_last_sign_in_is_shown_once"),
    ),
)
