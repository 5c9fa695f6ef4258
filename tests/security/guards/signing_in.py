"""Names and passwords: how often they are tried, what strangers learn, which passwords are taken."""

from tests.security.guards.guard import Guard, guards

ATTEMPTS, PASSWORDS = "webapp/store/accounts/attempts.py", "webapp/store/accounts/passwords.py"
ACCOUNTS, JOINING = "webapp/store/accounts/accounts.py", "webapp/store/accounts/onboarding.py"
T_SIGN_IN, T_ACCOUNTS = "tests/web/auth/test_sign_in.py", "tests/web/store/test_accounts.py"
T_ATTEMPTS, T_PASSWORDS = (
    "tests/web/store/test_attempts.py",
    "tests/web/store/test_passwords.py",
)
T_DEFAULT = "tests/web/auth/test_no_default.py"

LIMITED = "login limited by person and address"
SAME = "same answer and time for unknown people"
PASSWORD = "argon2id, length 10–128, a list of common passwords"
NO_DEFAULT = "no default password"
WRITTEN = "sign-ins are in the log, without what was typed; people are told at their next"
T_SIGN_INS = "tests/web/auth/test_sign_ins.py"
_COUNTED = 'return [(digest(f"name {place} {name}"), PER_NAME), (digest(f"address {place}"), PER_ADDRESS)]'

GUARDS: tuple[Guard, ...] = (
    *guards(
        LIMITED,
        ATTEMPTS,
        f"{T_SIGN_IN}::test_failed_sign_ins_are_limited_by_name_and_address",
        (_COUNTED, 'return [(digest(f"address {place}"), PER_ADDRESS)]'),
    ),
    *guards(
        LIMITED,
        ATTEMPTS,
        f"{T_SIGN_IN}::test_failed_sign_ins_are_limited_by_address",
        (_COUNTED, 'return [(digest(f"name {place} {name}"), PER_NAME)]'),
    ),
    *guards(
        LIMITED,
        ATTEMPTS,
        f"{T_ATTEMPTS}::test_a_network_of_ipv6_is_one_place",
        ("place = _place(address)", "place = address"),
    ),
    *guards(
        LIMITED,
        "webapp/auth/session.py",
        f"{T_SIGN_IN}::test_failed_sign_ins_are_limited_by_name_and_address"
        f" {T_ATTEMPTS}::test_the_present_password_is_not_guessed_by_who_sits_at_the_desk"
        " tests/web/auth/test_provider_ties.py::test_the_password_is_not_guessed_there",
        (
            "    if refused is not None:\n        raise _too_many(refused, name, how, _(",
            "    if False:\n        raise _too_many(refused, name, how, _(",
        ),
    ),
    *guards(
        SAME,
        PASSWORDS,
        f"{T_SIGN_IN}::test_an_unknown_name_costs_a_hash_as_well",
        ("self._hasher.verify(kept or self._nobody, password", "kept and self._hasher.verify(kept, password"),
    ),
    *guards(
        SAME,
        ACCOUNTS,
        f"{T_PASSWORDS}::test_known_unknown_and_disabled_people_cost_one_hash_each",
        (
            "if not self._passwords.matches(",
            "if (record and record.disabled) or not self._passwords.matches(",
        ),
    ),
    *guards(
        SAME,
        "webapp/auth/login.py",
        f"{T_SIGN_IN}::test_a_wrong_password_and_an_unknown_name_get_the_same_answer",
        (
            '_("The name or the password is wrong.")',
            '_("The password is wrong.") if accounts().find(name) else _("There is nobody of that name.")',
        ),
    ),
    *guards(
        PASSWORD,
        PASSWORDS,
        f"{T_ACCOUNTS}::test_passwords_are_argon2id_at_the_cost_that_owasp_asks",
        (
            "PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)",
            "PasswordHasher(time_cost=1, memory_cost=1_024, parallelism=1)",
        ),
    ),
    *guards(
        PASSWORD,
        PASSWORDS,
        f"{T_SIGN_IN}::test_a_refused_password_changes_nothing",
        ("not MIN_PASSWORD <= len(password) <= MAX_PASSWORD", "not password"),
    ),
    *guards(
        PASSWORD,
        PASSWORDS,
        T_PASSWORDS,
        (
            "if is_bad_password(password) or (len(plain) >= MIN_PASSWORD and is_bad_password(plain)):",
            "if False:",
        ),
        ("if len(name) >= SHORTEST_NAME and name.casefold() in plain:", "if False:"),
    ),
    *guards(
        PASSWORD,
        ACCOUNTS,
        f"{T_PASSWORDS}::test_a_hash_that_is_renewed_does_not_undo_a_password_set_meanwhile",
        (
            "self._people.rehash(record.name, record.password, renewed)",
            "self._people.change(name, password=renewed)",
        ),
    ),
    *guards(
        NO_DEFAULT,
        PASSWORDS,
        T_DEFAULT,
        ("return kept is not None", "return True"),
    ),
    *guards(
        NO_DEFAULT,
        JOINING,
        T_DEFAULT,
        (
            "if kept is None or not hmac.compare_digest(kept, digest(token).encode()):\n            return",
            "if kept is None:\n            return",
        ),
    ),
    *guards(
        NO_DEFAULT,
        JOINING,
        f"{T_ACCOUNTS}::test_the_first_admin_is_made_once",
        ("if has_admin(self._people.all()):\n            return None", "if False:\n            return None"),
    ),
    *guards(
        NO_DEFAULT,
        JOINING,
        f"{T_ACCOUNTS}::test_a_set_up_link_is_closed_once_there_is_an_admin",
        ("if has_admin(self._people.all()):  #", "if False:  #"),
    ),
    *guards(
        WRITTEN,
        "webapp/store/accounts/sign_ins.py",
        f"{T_SIGN_INS}::test_a_password_in_the_box_for_the_name_is_kept_nowhere",
        ('"sign-in.failed", known.name if known else _shortened(name)', '"sign-in.failed", name'),
        ('"sign-in.limited", known.name if known else _shortened(name)', '"sign-in.limited", name'),
    ),
    *guards(
        WRITTEN,
        "webapp/store/accounts/log.py",
        f"{T_SIGN_INS}::test_strangers_push_nothing_out_of_the_log_of_changes",
        ("keys.SIGN_INS if what in _SIGN_INS else keys.LOG", "keys.LOG"),
    ),
    *guards(
        WRITTEN,
        "webapp/auth/session.py",
        f"{T_SIGN_INS}::test_sign_ins_are_in_the_log_with_the_name_that_was_tried",
        ("        accounts().sign_ins.failed(name, how, address())\n", "        pass\n"),
        ("    if refused.is_first:\n", "    if False:\n"),
    ),
    *guards(
        WRITTEN,
        "webapp/auth/session.py",
        f"{T_SIGN_INS}::test_a_person_is_told_once_what_happened_since_their_last_sign_in",
        ("        flash(line)", "        pass"),
    ),
)
