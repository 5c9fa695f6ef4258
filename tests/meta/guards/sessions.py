"""Sessions end: on logout, password change and disable, everywhere."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "session ends on logout, password change and disable, everywhere",
        guard(
            "session-ended", "webapp/auth/session.py", "accounts().sessions.end(session_id)", instead="pass"
        ),
        guard(
            "password-ends-sessions",
            "webapp/store/accounts/sessions.py",
            "person.disabled or str(person.version) != claim.version",
            instead="person.disabled",
        ),
        guard(
            "disabled-has-no-session",
            "webapp/store/accounts/sessions.py",
            "person.disabled or str(person.version) != claim.version",
            instead="str(person.version) != claim.version",
        ),
        guard(
            "disabling-ends-sessions",
            "webapp/store/accounts/accounts.py",
            "person = self._people.change(name, end_sessions=bool(disabled), **changes).person()",
            instead="person = self._people.change(name, end_sessions=False, **changes).person()",
        ),
        guard(
            "new-password-ends-sessions",
            "webapp/store/accounts/accounts.py",
            "record = self._people.change(name, end_sessions=True, password=password_hash)",
            instead="record = self._people.change(name, password=password_hash)",
        ),
        guard(
            "revoke-ends-sessions",
            "webapp/store/accounts/accounts.py",
            "        name = self._people.get(name).name\n        person = self._people.change(name, end_sessions=True).person()",
            instead="        name = self._people.get(name).name\n        person = self._people.get(name).person()",
        ),
        guard(
            "link-ends-sessions",
            "webapp/store/accounts/onboarding.py",
            "return replace(people[link.name], password=password_hash, version=link.version + 1)",
            instead="return replace(people[link.name], password=password_hash)",
        ),
        guard(
            "disabled-gives-back",
            "webapp/store/accounts/accounts.py",
            "release_all(self._client, name, by=by)",
            instead="pass",
        ),
        guard(
            "disabled-waits-in-vain",
            "webapp/services/leases.py",
            "account is None or account.disabled or not is_still_known()",
            instead="False",
        ),
    ),
    *row(
        "sessions are stored in the server, and a sign-in starts a new one",
        guard(
            "sign-in-ends-session",
            "webapp/auth/session.py",
            "    end_session()\n    session.permanent = True",
            instead="    pass\n    session.permanent = True",
        ),
        guard("sign-in-clears-session", "webapp/auth/session.py", "session.clear()", instead="pass"),
        guard(
            "session-of-its-person",
            "webapp/store/accounts/sessions.py",
            "raw is None or owner != claim.name",
            instead="raw is None or not owner",
        ),
    ),
)
