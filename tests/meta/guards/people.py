"""Guards of accounts: invitations and links, names, the second factor, an identity provider."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "invitations and links: one-time, and no longer than they should",
        guard(
            "invitation-spent",
            "test_an_invitation_gives_its_role_and_skills_to_who_uses_it_once",
            instead="return pipe.hset(keys.PEOPLE, record.name, record.dump()) and record",
        ),
        guard("invitation-second", "test_who_comes_second_by_the_same_invitation_stays_out"),
        guard("name-taken", "test_an_invitation_gives_its_role_and_skills_to_who_uses_it_once"),
        guard(
            "inviters-name",
            "test_a_name_that_the_inviter_chose_is_not_changed",
            instead="record = self._new(name or invitation.name, invitation.role, invitation.skills, "
            "password)",
        ),
        guard(
            "invitation-there",
            "test_an_invitation_that_was_taken_back_or_is_too_old_opens_nothing",
            instead="return _invitation(token_hash, raw) if raw else None",
        ),
        guard(
            "maker-is-admin", "test_what_an_admin_handed_out_ends_with_their_right_to", instead="return True"
        ),
        guard("maker-may-grant", "test_what_an_admin_handed_out_ends_with_their_right_to"),
        guard(
            "link-version",
            "test_an_old_link_sets_no_password",
            instead="return record is not None and may_grant_access(self.by, people)",
        ),
    ),
    *row(
        "managers learn of nobody and nothing outside the queues that they manage",
        guard(
            "people-of-the-queues",
            "test_the_people_of_their_queues_with_their_figures_there",
            instead="return True",
        ),
        guard(
            "people-held",
            "test_the_people_of_their_queues_with_their_figures_there",
            instead="held = list(row.held)",
        ),
        guard(
            "people-queue",
            "test_no_criterion_tells_of_what_they_may_not_see",
            instead="of_queue = access.get(queue)",
        ),
        guard(
            "people-unseen",
            "test_a_person_s_page_has_their_work_there_and_nothing_of_the_account",
            instead="row = Roster.read(state()).view_for(accounts().people()[0]).rows[0]",
        ),
        guard(
            "people-suggested",
            "test_only_people_of_the_queue_are_suggested",
            instead="return accounts().people()",
        ),
    ),
    *row(
        "nobody takes a name that looks like another's",
        guard(
            "looks-taken",
            "test_rest_adds_nobody_who_looks_like_somebody",
        ),
        guard(
            "looks-refused",
            "test_rest_adds_nobody_who_looks_like_somebody",
        ),
        guard(
            "looks-in-transaction",
            "test_rest_adds_nobody_who_looks_like_somebody",
        ),
        guard(
            "looks-of-invited",
            "test_who_joins_gets_no_name_that_looks_like_one_that_is_taken",
        ),
        guard(
            "looks-of-admin",
            "test_the_first_admin_looks_like_nobody",
        ),
        guard(
            "looks-of-invitations",
            "test_nobody_is_invited_by_a_name_that_looks_like_another",
        ),
        guard(
            "looks-normal",
            "test_a_name_is_kept_in_one_spelling_and_found_in_any",
            instead='name = validation.person_name(value if isinstance(value, str) else value, "name")',
        ),
    ),
    *row(
        "names have no invisible characters",
        guard(
            "visible-person",
            "test_the_library_takes_no_such_name",
            "test_rest_adds_nobody_whose_name_is_not_all_seen",
        ),
        guard(
            "visible-name",
            "test_a_title_has_nothing_that_can_not_be_seen",
        ),
        guard(
            "blank-characters",
            "test_a_character_that_nobody_sees_is_found",
            instead="return unicodedata.category(char) in _HIDDEN_CATEGORIES",
        ),
        guard(
            "joiner-symbol",
            "test_a_character_that_nobody_sees_is_found",
            instead="return not before or before.isascii()",
        ),
        guard("joiner-cjk", "test_a_character_that_nobody_sees_is_found", instead="return not before"),
        guard("joiner-between", "test_a_character_that_nobody_sees_is_found", instead="return False"),
    ),
    *row(
        "optional TOTP second factor",
        guard("factor-asked", "test_a_code_is_asked_for_and_leads_on"),
        guard(
            "factor-after-link",
            "test_a_password_link_takes_the_place_of_the_password_only",
            instead="may_sign_in = not account.disabled",
        ),
        guard(
            "code-once",
            "test_a_code_counts_once",
            instead="return bool(self._redis.set(keys.code_used(name, step), 1, ex=_USED_SECONDS))",
        ),
        guard("code-drift", "test_a_clock_may_be_half_a_minute_wrong", instead="_DRIFT = 2"),
        guard(
            "recovery-once",
            "test_a_recovery_code_counts_once_and_is_kept_hashed",
            instead="return bool(self._redis.hexists(keys.recovery(name), _hashed(code)))",
        ),
        guard(
            "recovery-hashed",
            "test_a_recovery_code_counts_once_and_is_kept_hashed",
            instead='return "".join(one for one in code.lower() if one.isalnum())',
        ),
        guard("factor-confirmed", "test_what_was_not_confirmed_asks_for_nothing"),
        guard("code-slow", "test_wrong_codes_slow_down"),
        guard(
            "code-slow-anywhere",
            "test_wrong_codes_from_many_addresses_slow_down_too",
            instead="return [(address_digest, CODES_HERE)]",
        ),
        guard(
            "half-way-version",
            "test_standing_before_the_code_ends_with_the_password_and_with_time",
            instead="late or attempt.step != step or account is None or account.disabled",
        ),
        guard(
            "half-way-time",
            "test_standing_before_the_code_ends_with_the_password_and_with_time",
            instead="late = False",
        ),
        guard("factor-needs-password", "test_turning_it_on_or_off_takes_the_present_password"),
        guard(
            "factor-ends-sessions",
            "test_turning_it_on_ends_the_other_sessions",
            instead="person = self._people.get(name).person()",
        ),
    ),
    *row(
        "OIDC sign-in",
        guard("pkce", "test_somebody_known_comes_in_by_their_claim"),
        guard("id-token-checked", "test_an_id_token_of_another_key_or_none_is_refused"),
        guard("issuer-checked", "test_a_provider_that_is_away_or_calls_itself_otherwise"),
        guard("email-verified", "test_an_address_counts_once_the_provider_verified_it"),
        guard(
            "create-where-set",
            "test_who_is_unknown_comes_in_as_a_worker_only_where_that_is_set",
            instead="account = accounts().authenticate_by_provider(name, subject, create=True)",
        ),
        guard(
            "name-linked-to-other",
            "test_a_name_that_the_provider_gave_to_somebody_else_is_not_enough",
            "test_an_account_with_a_password_is_linked_by_its_password",
        ),
        guard("disabled-by-provider", "test_who_is_disabled_stays_out"),
        guard("linked-by-password", "test_an_account_with_a_password_is_linked_by_its_password"),
        guard("linked-worker", "test_who_has_no_password_but_something_to_lose_is_linked_by_an_admin"),
        guard("linked-tokens", "test_who_has_no_password_but_something_to_lose_is_linked_by_an_admin"),
        guard(
            "linked-by-admin",
            "test_who_has_no_password_but_something_to_lose_is_linked_by_an_admin",
            instead="text is None",
        ),
        guard(
            "link-of-an-admin", "test_what_an_admin_allowed_ends_with_their_right_to", instead="return True"
        ),
        guard(
            "linked-stays",
            "test_who_was_linked_stays_who_they_are_whatever_the_provider_calls_them",
            instead="linked_name = None",
        ),
        guard(
            "second-step-of-linked",
            "test_the_local_second_step_is_asked_of_who_is_linked",
            instead="from leaseq.webapp.auth.session import complete_sign_in; "
            "return complete_sign_in(account, method)",
        ),
        guard("password-of-linked", "test_an_account_with_a_password_is_linked_by_its_password"),
        guard("provider-by-tls", "test_endpoints_that_the_provider_names_are_reached_by_tls"),
        guard(
            "link-step",
            "test_the_page_of_a_password_asks_for_no_link",
            instead="late or account is None or account.disabled or account.version != attempt.version",
        ),
        guard("oidc-by-tls", "test_settings_that_do_not_go_together", instead='"?" in value or "#" in value'),
        guard(
            "oidc-fields",
            "test_settings_that_do_not_go_together",
            instead='@field_validator("oidc_client_id")',
        ),
    ),
    *row(
        "tokens: creating one takes the password or a recent sign-in, and their number is limited",
        guard("token-by-password", "test_making_one_asks_for_the_password"),
        guard("token-recent-sign-in", "test_who_has_no_password_has_signed_in_a_moment_ago"),
        guard(
            "sign-in-time",
            "test_a_provider_that_says_they_signed_in_this_morning_is_no_proof",
            instead="return now",
        ),
        guard("token-presence", "test_making_one_asks_for_the_password"),
        guard("token-count", "test_a_person_has_a_limited_number"),
    ),
)
