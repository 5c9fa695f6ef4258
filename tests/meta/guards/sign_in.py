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
        guard("ipv6-network", "test_a_network_of_ipv6_is_one_place", instead="place = address"),
        guard(
            "limit-refuses",
            "test_failed_sign_ins_are_limited_by_name_and_address",
            "test_the_present_password_is_not_guessed_by_who_sits_at_the_desk",
            "test_the_password_is_not_guessed_there",
        ),
    ),
    *row(
        "same answer and time for unknown people",
        guard(
            "unknown-costs-a-hash",
            "test_an_unknown_name_costs_a_hash_as_well",
            instead="stored_hash and self._hasher.verify(stored_hash, password[: MAX_PASSWORD + 1])",
        ),
        guard(
            "disabled-costs-a-hash",
            "test_known_unknown_and_disabled_people_cost_one_hash_each",
            instead="record.disabled or not self._passwords.matches(password, record.password)",
        ),
        guard(
            "same-answer",
            "test_a_wrong_password_and_an_unknown_name_get_the_same_answer",
            instead='return login_page(target, name, "wrong" if accounts().find(name) else "unknown"), 401',
        ),
    ),
    *row(
        "argon2id, length 10–128, a list of common passwords",
        guard(
            "argon2-cost",
            "test_passwords_are_argon2id_at_the_cost_that_owasp_asks",
            instead="self._hasher = hasher or PasswordHasher(time_cost=1, memory_cost=1_024, parallelism=1)",
        ),
        guard(
            "password-length",
            "test_a_refused_password_changes_nothing",
            instead="not isinstance(password, str) or not password",
        ),
        guard(
            "common-passwords",
            "test_a_password_that_is_tried_first_is_refused_wherever_one_is_set",
        ),
        guard(
            "password-without-name",
            "test_a_password_that_is_tried_first_is_refused_wherever_one_is_set",
        ),
        guard(
            "rehash-undoes-nothing",
            "test_a_hash_that_is_renewed_does_not_undo_a_password_set_meanwhile",
            instead="self._people.change(name, password=new_hash)",
        ),
    ),
    *row(
        "no default password",
        guard(
            "no-password-no-match", "test_a_password_is_theirs_only_where_there_is_one", instead="return True"
        ),
        guard("setup-token", "test_set_up_takes_the_printed_link", instead="value is None"),
        guard("first-admin-once", "test_the_first_admin_is_made_once"),
        guard("setup-closed", "test_a_set_up_link_is_closed_once_there_is_an_admin"),
    ),
    *row(
        "sign-ins are in the log, without what was typed; people are told at their next",
        guard(
            "failed-name-shortened",
            "test_a_password_in_the_box_for_the_name_is_kept_nowhere",
            instead='self._log.write("", "sign-in.failed", name, f"{method}, {address}")',
        ),
        guard(
            "limited-name-shortened",
            "test_a_password_in_the_box_for_the_name_is_kept_nowhere",
            instead='self._log.write("", "sign-in.limited", name, f"{method}, {address}")',
        ),
        guard(
            "sign-ins-apart",
            "test_strangers_push_nothing_out_of_the_log_of_changes",
            instead="stream = keys.LOG",
        ),
        guard("failed-in-log", "test_sign_ins_are_in_the_log_with_the_name_that_was_tried"),
        guard("limited-in-log", "test_sign_ins_are_in_the_log_with_the_name_that_was_tried"),
        guard("told-at-sign-in", "test_a_person_is_told_once_what_happened_since_their_last_sign_in"),
    ),
)
