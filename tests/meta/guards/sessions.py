"""Sessions end: on logout, password change and disable, everywhere."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "session ends on logout, password change and disable, everywhere",
        guard("session-ended", "test_copied_cookie_is_refused_after_session_ends"),
        guard(
            "password-ends-sessions",
            "test_a_changed_password_ends_the_other_sessions",
            instead="person.disabled",
        ),
        guard(
            "disabled-has-no-session",
            "test_stored_session_of_disabled_person_is_refused",
            instead="str(person.version) != claim.version",
        ),
        guard(
            "disabling-ends-sessions",
            "test_disabled_person_loses_session_and_token_immediately",
            instead="person = self._people.change(name, end_sessions=False, **changes).person()",
        ),
        guard(
            "new-password-ends-sessions",
            "test_copied_cookie_is_refused_after_session_ends",
            instead="record = self._people.change(name, password=password_hash)",
        ),
        guard(
            "revoke-ends-sessions",
            "test_copied_cookie_is_refused_after_session_ends",
            instead="person = self._people.get(name).person()",
        ),
        guard(
            "link-ends-sessions",
            "test_copied_cookie_is_refused_after_session_ends",
            instead="return replace(people[link.name], password=password_hash)",
        ),
        guard("disabled-gives-back", "test_disabling_person_releases_only_their_leases"),
        guard("disabled-waits-in-vain", "test_person_disabled_while_waiting_gets_no_item"),
    ),
    *row(
        "sessions are stored in the server, and a sign-in starts a new one",
        guard("sign-in-ends-session", "test_sign_in_replaces_previous_session"),
        guard("sign-in-clears-session", "test_sign_in_replaces_previous_session"),
        guard(
            "session-of-its-person",
            "test_session_secret_is_refused_under_other_name",
            instead="raw is None or not owner",
        ),
    ),
)
