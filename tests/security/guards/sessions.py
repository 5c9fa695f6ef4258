"""Sessions end: on logout, password change and disable, everywhere."""

from tests.security.guards.guard import Guard, guards

SIGNING, SESSIONS = "webapp/auth/session.py", "webapp/store/accounts/sessions.py"
ACCOUNTS, JOINING = "webapp/store/accounts/accounts.py", "webapp/store/accounts/onboarding.py"
T_SESSIONS, T_SIGN_IN = "tests/web/auth/test_sessions.py", "tests/web/auth/test_sign_in.py"
T_COPIED = f"{T_SESSIONS}::test_a_copied_cookie_is_worth_nothing_once_the_session_ended"
T_PEOPLE = "tests/web/people/test_people.py"

ENDS = "session ends on logout, password change and disable, everywhere"
OURS = "sessions are the server's"

GUARDS: tuple[Guard, ...] = (
    *guards(ENDS, SIGNING, T_COPIED, ("accounts().sessions.end(known)", "pass")),
    *guards(
        ENDS,
        SESSIONS,
        f"{T_SIGN_IN}::test_a_changed_password_ends_the_other_sessions",
        ("or str(person.version) != named.version:", "or False:"),
    ),
    *guards(
        ENDS,
        SESSIONS,
        f"{T_SIGN_IN}::test_a_disabled_person_has_no_session_whatever_its_version",
        ("if person.disabled or", "if"),
    ),
    *guards(
        ENDS,
        ACCOUNTS,
        f"{T_SIGN_IN}::test_who_is_disabled_is_out_at_once",
        ("end_sessions=bool(disabled)", "end_sessions=False"),
    ),
    *guards(
        ENDS,
        ACCOUNTS,
        T_COPIED,
        ("change(name, end_sessions=True, password=hashed)", "change(name, password=hashed)"),
        (
            "person = self._people.change(name, end_sessions=True).person()\n        self.log.write(by,",
            "person = self._people.get(name).person()\n        self.log.write(by,",
        ),
    ),
    *guards(
        ENDS,
        JOINING,
        T_COPIED,
        ("password=hashed, version=link.version + 1)", "password=hashed)"),
    ),
    *guards(
        ENDS,
        ACCOUNTS,
        f"{T_PEOPLE}::test_who_is_disabled_gives_back_what_they_hold_and_nobody_else_does",
        ("take_back(self._client, name, by=by)", "pass"),
    ),
    *guards(
        ENDS,
        "webapp/api/leases.py",
        "tests/web/api/test_long_poll.py::test_who_is_disabled_while_they_wait_gets_nothing",
        ("if now is None or now.disabled:", "if False:"),
    ),
    *guards(
        OURS,
        SIGNING,
        f"{T_SESSIONS}::test_signing_in_makes_a_new_session_and_ends_the_one_before",
        ("    end_session()\n    session.permanent", "    session.permanent"),
        ("session.clear()", "pass"),
    ),
    *guards(
        OURS,
        SESSIONS,
        f"{T_SESSIONS}::test_one_persons_session_does_not_open_anothers",
        ("if raw is None or whose != named.name:", "if raw is None or not whose:"),
    ),
)
