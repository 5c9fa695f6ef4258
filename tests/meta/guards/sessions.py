"""Sessions end: on logout, password change and disable, everywhere."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "session ends on logout, password change and disable, everywhere",
        guard("session-ended", "test_a_copied_cookie_is_worth_nothing_once_the_session_ended"),
        guard(
            "password-ends-sessions",
            "test_a_changed_password_ends_the_other_sessions",
            instead="person.disabled",
        ),
        guard(
            "disabled-has-no-session",
            "test_a_disabled_person_has_no_session_whatever_its_version",
            instead="str(person.version) != claim.version",
        ),
        guard(
            "disabling-ends-sessions",
            "test_who_is_disabled_is_out_at_once",
            instead="person = self._people.change(name, end_sessions=False, **changes).person()",
        ),
        guard(
            "new-password-ends-sessions",
            "test_a_copied_cookie_is_worth_nothing_once_the_session_ended",
            instead="record = self._people.change(name, password=password_hash)",
        ),
        guard(
            "revoke-ends-sessions",
            "test_a_copied_cookie_is_worth_nothing_once_the_session_ended",
            instead="person = self._people.get(name).person()",
        ),
        guard(
            "link-ends-sessions",
            "test_a_copied_cookie_is_worth_nothing_once_the_session_ended",
            instead="return replace(people[link.name], password=password_hash)",
        ),
        guard("disabled-gives-back", "test_who_is_disabled_gives_back_what_they_hold_and_nobody_else_does"),
        guard("disabled-waits-in-vain", "test_who_is_disabled_while_they_wait_gets_nothing"),
    ),
    *row(
        "sessions are stored in the server, and a sign-in starts a new one",
        guard("sign-in-ends-session", "test_signing_in_makes_a_new_session_and_ends_the_one_before"),
        guard("sign-in-clears-session", "test_signing_in_makes_a_new_session_and_ends_the_one_before"),
        guard(
            "session-of-its-person",
            "test_one_persons_session_does_not_open_anothers",
            instead="raw is None or not owner",
        ),
    ),
)
