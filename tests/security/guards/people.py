"""How people come in: invitations and links, the second factor, an identity provider."""

from tests.security.guards.guard import Guard, guards

JOINING, PEOPLE, FACTORS = (
    "webapp/store/accounts/onboarding.py",
    "webapp/store/accounts/people.py",
    "webapp/store/accounts/factors.py",
)
INVITATIONS, LINKS = "webapp/store/accounts/invitations.py", "webapp/store/accounts/links.py"
LOGIN, PROVIDER, SIGNING = "webapp/auth/login.py", "webapp/auth/provider.py", "webapp/auth/session.py"
T_NAMES = "tests/web/store/test_account_names.py"
T_PEOPLE, T_LINKS = "tests/web/people/test_people.py", "tests/web/auth/test_links.py"
T_FACTOR, T_OIDC = "tests/web/auth/test_factor.py", "tests/web/auth/test_oidc.py"
TIES, T_TIES = "webapp/store/accounts/provider.py", "tests/web/auth/test_provider_ties.py"

LOOKS = "nobody takes a name that looks like another's"
INVITED = "invitations and links: one-time, and no longer than they should"
TOTP = "optional TOTP second factor"
OIDC = "OIDC sign-in"
TOKENS, T_TOKENS = "tokens: made by who is there, and not without end", "tests/web/auth/test_token_making.py"

_ONCE = f"{T_PEOPLE}::test_an_invitation_gives_its_role_and_skills_to_who_uses_it_once"

GUARDS: tuple[Guard, ...] = (
    *guards(
        INVITED,
        PEOPLE,
        _ONCE,
        (
            "if spend is not None:\n                pipe.delete(spend)\n            if forget is not None:",
            "if False:",
        ),
    ),
    *guards(
        INVITED,
        PEOPLE,
        f"{T_LINKS}::test_who_comes_second_by_the_same_invitation_stays_out",
        ("                check(pipe.get(spend))", "                pass"),
    ),
    *guards(INVITED, PEOPLE, _ONCE, ("    if name in taken:", "    if False:")),
    *guards(
        LOOKS,
        PEOPLE,
        T_NAMES,
        ("    if other is not None:", "    if False:"),
        ("    refuse_same_look(name, taken)\n", ""),
        (
            "            refuse_taken(record.name, people)\n            return record\n\n        self",
            "            return record\n\n        self",
        ),
    ),
    *guards(
        LOOKS,
        JOINING,
        T_NAMES,
        ("            refuse_taken(record.name, people)\n", ""),
        ("            refuse_same_look(admin.name, people)\n", ""),
        ("        refuse_same_look(name, invited)\n", ""),
    ),
    *guards(
        LOOKS,
        "webapp/store/accounts/model.py",
        T_NAMES,
        ("validation.person_name(normal(value) if", "validation.person_name(value if"),
    ),
    *guards(
        "names have nothing that can't be seen",
        "leaseq/validation.py",
        "tests/unit/test_names.py tests/web/store/test_account_names.py",
        ("    _visible(value, field)\n", ""),
        ("    _visible(found, field)\n", ""),
    ),
    *guards(
        "names have nothing that can't be seen",
        "leaseq/names.py",
        "tests/unit/test_names.py",
        ("return char in _BLANK or", "return"),
        ('unicodedata.category(before)[0] != "S"', "False"),
        ('not unicodedata.name(before, "").startswith("CJK ")', "False"),
        ("any(not one or one.isascii() or one in _JOINERS for one in around)", "False"),
    ),
    *guards(
        INVITED,
        JOINING,
        f"{T_PEOPLE}::test_a_name_that_the_inviter_chose_is_not_changed",
        ("self._new(found.name or name,", "self._new(name or found.name,"),
    ),
    *guards(
        INVITED,
        INVITATIONS,
        f"{T_PEOPLE}::test_an_invitation_that_was_taken_back_or_is_too_old_opens_nothing",
        (
            "return _invitation(hashed, raw) if raw and there else None",
            "return _invitation(hashed, raw) if raw else None",
        ),
    ),
    *guards(
        INVITED,
        PEOPLE,
        f"{T_LINKS}::test_what_an_admin_handed_out_ends_with_their_right_to",
        ('return maker is None or (maker.role == "admin" and not maker.disabled)', "return True"),
    ),
    *guards(
        INVITED,
        JOINING,
        f"{T_LINKS}::test_what_an_admin_handed_out_ends_with_their_right_to",
        ("if not may_let_in(found.by, people):", "if False:"),
    ),
    *guards(
        INVITED,
        LINKS,
        f"{T_LINKS}::test_an_old_link_sets_no_password",
        ("found.version == self.version", "True"),
    ),
    *guards(
        TOTP,
        SIGNING,
        f"{T_FACTOR}::test_a_code_is_asked_for_and_leads_on",
        ("if accounts().factors.find(who.name) is not None:", "if False:"),
    ),
    *guards(
        TOTP,
        "webapp/auth/signup.py",
        f"{T_FACTOR}::test_a_password_link_takes_the_place_of_the_password_only",
        ("who.disabled or accounts().factors.find(who.name) is not None", "who.disabled"),
    ),
    *guards(
        TOTP,
        FACTORS,
        f"{T_FACTOR}::test_a_code_counts_once",
        ("1, ex=_USED_SECONDS, nx=True", "1, ex=_USED_SECONDS"),
    ),
    *guards(
        TOTP,
        FACTORS,
        f"{T_FACTOR}::test_a_clock_may_be_half_a_minute_wrong",
        ("_DRIFT = 1", "_DRIFT = 2"),
    ),
    *guards(
        TOTP,
        FACTORS,
        f"{T_FACTOR}::test_a_recovery_code_counts_once_and_is_kept_hashed",
        (
            "self._redis.hdel(keys.recovery(name), _hashed(code))",
            "self._redis.hexists(keys.recovery(name), _hashed(code))",
        ),
        (
            'return digest("".join(one for one in code.lower() if one.isalnum()))',
            'return "".join(one for one in code.lower() if one.isalnum())',
        ),
    ),
    *guards(
        TOTP,
        FACTORS,
        f"{T_FACTOR}::test_what_was_not_confirmed_asks_for_nothing",
        ("if not self._is_code(name, secret, code):", "if False:"),
    ),
    *guards(
        TOTP,
        LOGIN,
        f"{T_FACTOR}::test_wrong_codes_slow_down",
        ("    begin_code(who.name)\n    before", "    before"),
    ),
    *guards(
        TOTP,
        "webapp/store/accounts/attempts.py",
        f"{T_FACTOR}::test_wrong_codes_from_many_addresses_slow_down_too",
        ("return [(here, CODES_HERE), (anywhere, CODES_ANYWHERE)]", "return [(here, CODES_HERE)]"),
    ),
    *guards(
        TOTP,
        SIGNING,
        f"{T_FACTOR}::test_standing_before_the_code_ends_with_the_password_and_with_time",
        (" or who.version != found.version:", ":"),
    ),
    *guards(
        TOTP,
        SIGNING,
        f"{T_FACTOR}::test_standing_before_the_code_ends_with_the_password_and_with_time",
        ("late = time.time() - found.at >= HALF_WAY_SECONDS", "late = False"),
    ),
    *guards(
        TOTP,
        "webapp/auth/factor.py",
        f"{T_FACTOR}::test_turning_it_on_or_off_takes_the_present_password",
        ("        check_present_password()\n", "        pass\n"),
    ),
    *guards(
        TOTP,
        "webapp/store/accounts/accounts.py",
        f"{T_FACTOR}::test_turning_it_on_ends_the_other_sessions",
        (
            ".confirm(name, code)\n        person = self._people.change(name, end_sessions=True)",
            ".confirm(name, code)\n        person = self._people.get(name)",
        ),
    ),
    *guards(
        OIDC,
        PROVIDER,
        f"{T_OIDC}::test_somebody_known_comes_in_by_their_claim",
        ('"code_challenge_method": "S256",', ""),
    ),
    *guards(
        OIDC,
        PROVIDER,
        f"{T_OIDC}::test_an_id_token_of_another_key_or_none_is_refused",
        ("    if not claims:\n", "    if False:\n"),
    ),
    *guards(
        OIDC,
        PROVIDER,
        f"{T_OIDC}::test_a_provider_that_is_away_or_calls_itself_otherwise",
        ('if str(found.get("issuer", "")).rstrip("/") != issuer.rstrip("/"):', "if False:"),
    ),
    *guards(
        OIDC,
        PROVIDER,
        f"{T_OIDC}::test_an_address_counts_once_the_provider_verified_it",
        ('if claim == "email" and claims.get("email_verified") is not True:', "if False:"),
    ),
    *guards(
        OIDC,
        PROVIDER,
        f"{T_OIDC}::test_who_is_unknown_comes_in_as_a_worker_only_where_that_is_set",
        ("create=settings.oidc_create)", "create=True)"),
    ),
    *guards(
        OIDC,
        TIES,
        f"{T_OIDC}::test_a_name_that_the_provider_gave_to_somebody_else_is_not_enough"
        f" {T_TIES}::test_an_account_with_a_password_is_tied_by_its_password",
        ("        if self.is_tied(record.name):\n            raise _somebody_elses(record.name)\n", ""),
    ),
    *guards(
        OIDC,
        TIES,
        f"{T_OIDC}::test_who_is_disabled_stays_out",
        ("        if record.disabled:\n", "        if False:\n"),
    ),
    *guards(
        OIDC,
        TIES,
        f"{T_TIES}::test_an_account_with_a_password_is_tied_by_its_password",
        ("            record.password is not None\n            or ", "            "),
    ),
    *guards(
        OIDC,
        TIES,
        f"{T_TIES}::test_who_has_no_password_but_something_to_lose_is_tied_by_an_admin",
        ('            or record.role != "worker"\n', ""),
        ("            or any(not token.is_over(now) for token in self._tokens.of(record.name))\n", ""),
        ("not self._redis.delete(keys.tie_allowed(name))", "False"),
    ),
    *guards(
        OIDC,
        TIES,
        f"{T_TIES}::test_what_an_admin_allowed_ends_with_their_right_to",
        ("return Link(**json.loads(kept)).opens(self._people.by_name())", "return True"),
    ),
    *guards(
        OIDC,
        TIES,
        f"{T_TIES}::test_who_was_tied_stays_who_they_are_whatever_the_provider_calls_them",
        ("mine = self._tied_to(hashed)", "mine = None"),
    ),
    *guards(
        OIDC,
        PROVIDER,
        f"{T_TIES}::test_the_local_second_step_is_asked_of_who_is_tied",
        ("    return go_on(who, way)\n", "    return let_in(who, way)\n"),
    ),
    *guards(
        OIDC,
        PROVIDER,
        f"{T_TIES}::test_an_account_with_a_password_is_tied_by_its_password",
        ('    if by_password(who.name, "password after', '    if False and (who.name, "password after'),
    ),
    *guards(
        OIDC,
        PROVIDER,
        f"{T_TIES}::test_endpoints_that_the_provider_names_are_reached_by_tls",
        ("if not is_private_to_us(str(found.get(endpoint))):", "if False:"),
    ),
    *guards(
        TOKENS,
        SIGNING,
        f"{T_TOKENS}::test_making_one_asks_for_the_password",
        ("    if person().has_password:\n", "    if False:\n"),
    ),
    *guards(
        TOKENS,
        SIGNING,
        f"{T_TOKENS}::test_who_has_no_password_has_signed_in_a_moment_ago",
        ("    elif not is_proved():\n", "    elif False:\n"),
    ),
    *guards(
        TOKENS,
        PROVIDER,
        f"{T_TOKENS}::test_a_provider_that_says_they_signed_in_this_morning_is_no_proof",
        ("return min(float(told), now) if isinstance(told, int) else now", "return now"),
    ),
    *guards(
        TOKENS,
        "webapp/people/detail.py",
        f"{T_TOKENS}::test_making_one_asks_for_the_password",
        ("        check_presence()\n", ""),
    ),
    *guards(
        TOKENS,
        "webapp/store/accounts/tokens.py",
        f"{T_TOKENS}::test_a_person_has_a_limited_number",
        ("if len(mine) - len(over) >= MAX_TOKENS:", "if False:"),
    ),
    *guards(
        OIDC,
        SIGNING,
        f"{T_TIES}::test_the_page_of_a_password_asks_for_no_tie",
        (" or found.step != step", ""),
    ),
    *guards(
        OIDC,
        "webapp/settings.py",
        f"{T_OIDC}::test_settings_that_do_not_go_together",
        ("if not is_private_to_us(value) or", "if"),
        ('@field_validator("oidc_client_id", "oidc_claim")', '@field_validator("oidc_client_id")'),
    ),
)
