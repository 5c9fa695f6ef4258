"""Guards of sign-in: limits on attempts, equal answers for unknown people, accepted passwords."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "login limited by person and address",
        guard(
            "limit-by-name",
            "webapp/store/accounts/sessions.py",
            'return [(digest(f"name {place} {name}"), PER_NAME), (digest(f"address {place}"), PER_ADDRESS)]',
            instead='return [(digest(f"address {place}"), PER_ADDRESS)]',
        ),
        guard(
            "limit-by-address",
            "webapp/store/accounts/sessions.py",
            'return [(digest(f"name {place} {name}"), PER_NAME), (digest(f"address {place}"), PER_ADDRESS)]',
            instead='return [(digest(f"name {place} {name}"), PER_NAME)]',
        ),
        guard(
            "ipv6-network",
            "webapp/store/accounts/sessions.py",
            "place = _place(address)",
            instead="place = address",
        ),
        guard(
            "limit-refuses",
            "webapp/auth/session.py",
            "    refusal = accounts().attempts.begin(counters)\n    if refusal is not None",
            instead="    refusal = accounts().attempts.begin(counters)\n    if False",
        ),
    ),
    *row(
        "same answer and time for unknown people",
        guard(
            "unknown-costs-a-hash",
            "webapp/store/accounts/passwords.py",
            "self._run(self._hasher.verify, (stored_hash or dummy_hash, password[: MAX_PASSWORD + 1]))",
            instead="stored_hash and self._hasher.verify(stored_hash, password[: MAX_PASSWORD + 1])",
        ),
        guard(
            "disabled-costs-a-hash",
            "webapp/store/accounts/accounts.py",
            "not self._passwords.matches(password, record.password if record else None)",
            instead="record.disabled or not self._passwords.matches(password, record.password)",
        ),
        guard(
            "same-answer",
            "webapp/auth/login.py",
            'return login_page(target, name, _("The name or the password is wrong.")), 401',
            instead='return login_page(target, name, "wrong" if accounts().find(name) else "unknown"), 401',
        ),
    ),
    *row(
        "argon2id, length 10–128, a list of common passwords",
        guard(
            "argon2-cost",
            "webapp/store/accounts/passwords.py",
            "self._hasher = hasher or PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)",
            instead="self._hasher = hasher or PasswordHasher(time_cost=1, memory_cost=1_024, parallelism=1)",
        ),
        guard(
            "password-length",
            "webapp/store/accounts/passwords.py",
            "not MIN_PASSWORD <= len(password) <= MAX_PASSWORD",
            instead="not isinstance(password, str) or not password",
        ),
        guard(
            "common-passwords",
            "webapp/store/accounts/passwords.py",
            'b"\\n%b\\n" % folded_password.strip().encode() in _common_passwords()',
            instead="False",
        ),
        guard(
            "password-without-name",
            "webapp/store/accounts/passwords.py",
            "len(name) >= SHORTEST_NAME and name.casefold() in folded_password",
            instead="False",
        ),
        guard(
            "rehash-undoes-nothing",
            "webapp/store/accounts/accounts.py",
            "self._people.rehash(record.name, record.password, new_hash)",
            instead="self._people.change(name, password=new_hash)",
        ),
    ),
    *row(
        "no default password",
        guard(
            "no-password-no-match",
            "webapp/store/accounts/passwords.py",
            "return stored_hash is not None",
            instead="return True",
        ),
        guard(
            "setup-token",
            "webapp/store/accounts/onboarding.py",
            "        value = self._redis.get(model.SETUP)\n        if value is None or not hmac.compare_digest(value, digest(token).encode())",
            instead="        value = self._redis.get(model.SETUP)\n        if value is None",
        ),
        guard(
            "first-admin-once",
            "webapp/store/accounts/onboarding.py",
            '        """\n        if has_admin(self._people.all())',
            instead='        """\n        if False',
        ),
        guard(
            "setup-closed",
            "webapp/store/accounts/onboarding.py",
            "            return False\n        if has_admin(self._people.all())",
            instead="            return False\n        if False",
        ),
    ),
    *row(
        "sign-ins are logged without what was typed, and the person sees them at the next one",
        guard(
            "failed-name-shortened",
            "webapp/store/accounts/sessions.py",
            "record.name if record else _shortened(name)",
            instead="name",
        ),
        guard(
            "limited-name-shortened",
            "webapp/store/accounts/sessions.py",
            "record.name if record else _shortened(name)",
            instead="name",
        ),
        guard(
            "sign-ins-apart",
            "webapp/store/accounts/log.py",
            "stream = model.SIGN_INS if what in _SIGN_INS else model.LOG",
            instead="stream = model.LOG",
        ),
        guard(
            "failed-in-log",
            "webapp/auth/session.py",
            "accounts().sign_ins.log_failure(name, how, address())",
            instead="pass",
        ),
        guard("limited-in-log", "webapp/auth/session.py", "refusal.is_first", instead="False"),
        guard("told-at-sign-in", "webapp/auth/session.py", "flash_notices(notices)", instead="pass"),
    ),
)
