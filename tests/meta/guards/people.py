"""Guards of accounts: invitations and links, names, the second factor, an identity provider."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "invitations and links work once, and expire",
        guard(
            "invitation-spent",
            "test_invitation_grants_role_and_skills_once",
            instead="return pipe.hset(keys.PEOPLE, record.name, record.dump()) and record",
        ),
        guard("invitation-second", "test_second_acceptance_of_invitation_is_refused"),
        guard("name-taken", "test_invitation_grants_role_and_skills_once"),
        guard(
            "inviters-name",
            "test_invited_person_cannot_change_preset_name",
            instead="record = self._new(name or invitation.name, invitation.role, invitation.skills, "
            "password)",
        ),
        guard(
            "invitation-there",
            "test_revoked_or_expired_invitation_is_refused",
            instead="return _invitation(token_hash, raw) if raw else None",
        ),
        guard("maker-is-admin", "test_links_end_when_creating_admin_loses_rights", instead="return True"),
        guard("maker-may-grant", "test_links_end_when_creating_admin_loses_rights"),
        guard(
            "link-version",
            "test_password_link_is_refused_after_sessions_end",
            instead="return record is not None and may_grant_access(self.by, people)",
        ),
    ),
    *row(
        "managers see only people and data of the queues that they manage",
        guard(
            "people-of-the-queues",
            "test_manager_sees_people_and_figures_of_managed_queues_only",
            instead="return True",
        ),
        guard(
            "people-held",
            "test_manager_sees_people_and_figures_of_managed_queues_only",
            instead="held = list(row.held)",
        ),
        guard(
            "people-queue",
            "test_search_criteria_reveal_no_hidden_data",
            instead="of_queue = access.get(queue)",
        ),
        guard(
            "people-unseen",
            "test_person_page_shows_work_on_managed_queues_without_account",
            instead="row = Roster.read(state()).view_for(accounts().people()[0]).rows[0]",
        ),
        guard(
            "people-suggested",
            "test_only_people_of_the_queue_are_suggested",
            instead="return accounts().people()",
        ),
    ),
    *row(
        "names that look like another person's are refused",
        guard(
            "looks-taken",
            "test_rest_refuses_lookalike_name",
        ),
        guard(
            "looks-refused",
            "test_rest_refuses_lookalike_name",
        ),
        guard(
            "looks-in-transaction",
            "test_rest_refuses_lookalike_name",
        ),
        guard(
            "looks-of-invited",
            "test_signup_refuses_lookalike_name",
        ),
        guard(
            "looks-of-admin",
            "test_setup_refuses_lookalike_name",
        ),
        guard(
            "looks-of-invitations",
            "test_invitation_refuses_lookalike_name",
        ),
        guard(
            "looks-normal",
            "test_name_is_stored_composed_and_found_in_any_form",
            instead='name = validation.new_person_name(value if isinstance(value, str) else value, "name")',
        ),
    ),
    *row(
        "names have no invisible characters",
        guard(
            "visible-person",
            "test_reserve_by_a_name_with_an_invisible_character_is_refused",
            "test_rest_refuses_name_with_invisible_character",
        ),
        guard(
            "visible-name",
            "test_queue_title_with_invisible_character_is_refused",
        ),
        guard(
            "blank-characters",
            "test_invisible_character_in_a_name_is_found",
            instead="return unicodedata.category(char) in _HIDDEN_CATEGORIES",
        ),
        guard(
            "joiner-symbol",
            "test_invisible_character_in_a_name_is_found",
            instead="return not before or before.isascii()",
        ),
        guard("joiner-cjk", "test_invisible_character_in_a_name_is_found", instead="return not before"),
        guard("joiner-between", "test_invisible_character_in_a_name_is_found", instead="return False"),
    ),
    *row(
        "optional TOTP second factor",
        guard("factor-asked", "test_sign_in_requires_code_and_redirects_to_next"),
        guard(
            "factor-after-link",
            "test_password_link_does_not_replace_code",
            instead="may_sign_in = not account.disabled",
        ),
        guard(
            "code-once",
            "test_two_factor_code_is_accepted_once",
            instead="return bool(self._redis.set(keys.code_used(name, step), 1, ex=_USED_SECONDS))",
        ),
        guard("code-drift", "test_code_of_clock_off_by_30_seconds_is_accepted", instead="_DRIFT = 2"),
        guard(
            "recovery-once",
            "test_recovery_code_is_accepted_once_and_stored_hashed",
            instead="return bool(self._redis.hexists(keys.recovery(name), _hashed(code)))",
        ),
        guard(
            "recovery-hashed",
            "test_recovery_code_is_accepted_once_and_stored_hashed",
            instead='return "".join(one for one in code.lower() if one.isalnum())',
        ),
        guard("factor-confirmed", "test_unconfirmed_factor_is_not_required"),
        guard("code-slow", "test_wrong_codes_from_same_address_are_rate_limited"),
        guard(
            "code-slow-anywhere",
            "test_wrong_codes_from_many_addresses_are_rate_limited",
            instead="return [(address_digest, CODES_HERE)]",
        ),
        guard(
            "half-way-version",
            "test_pending_sign_in_expires_and_ends_at_password_change",
            instead="late or attempt.step != step or account is None or account.disabled",
        ),
        guard(
            "half-way-time",
            "test_pending_sign_in_expires_and_ends_at_password_change",
            instead="late = False",
        ),
        guard("factor-needs-password", "test_turning_factor_on_or_off_requires_password"),
        guard(
            "factor-ends-sessions",
            "test_turning_factor_on_ends_other_sessions",
            instead="person = self._people.get(name).person()",
        ),
    ),
    *row(
        "OIDC sign-in",
        guard("pkce", "test_known_person_signs_in_by_claim"),
        guard("id-token-checked", "test_missing_or_wrongly_signed_id_token_is_refused"),
        guard("issuer-checked", "test_unavailable_provider_or_other_issuer_is_bad_gateway"),
        guard("email-verified", "test_email_claim_must_be_verified"),
        guard(
            "create-where-set",
            "test_unknown_person_becomes_worker_only_if_configured",
            instead="account = accounts().authenticate_by_provider(name, subject, create=True)",
        ),
        guard(
            "name-linked-to-other",
            "test_same_name_with_other_subject_is_refused",
            "test_an_account_with_a_password_is_linked_by_its_password",
        ),
        guard("disabled-by-provider", "test_disabled_person_may_not_sign_in_through_provider"),
        guard("linked-by-password", "test_an_account_with_a_password_is_linked_by_its_password"),
        guard("linked-worker", "test_privileged_account_without_password_is_linked_by_admin"),
        guard("linked-tokens", "test_privileged_account_without_password_is_linked_by_admin"),
        guard(
            "linked-by-admin",
            "test_privileged_account_without_password_is_linked_by_admin",
            instead="text is None",
        ),
        guard("link-of-an-admin", "test_allowed_link_ends_when_admin_is_disabled", instead="return True"),
        guard(
            "linked-stays",
            "test_linked_account_is_kept_when_provider_renames_person",
            instead="linked_name = None",
        ),
        guard(
            "second-step-of-linked",
            "test_linked_account_still_requires_second_factor",
            instead="from leaseq.webapp.auth.session import complete_sign_in; "
            "return complete_sign_in(account, method)",
        ),
        guard("password-of-linked", "test_an_account_with_a_password_is_linked_by_its_password"),
        guard("provider-by-tls", "test_provider_endpoints_without_https_are_refused"),
        guard(
            "link-step",
            "test_link_page_requires_sign_in_through_provider",
            instead="late or account is None or account.disabled or account.version != attempt.version",
        ),
        guard(
            "oidc-by-tls", "test_invalid_oidc_settings_are_refused", instead='"?" in value or "#" in value'
        ),
        guard(
            "oidc-fields",
            "test_invalid_oidc_settings_are_refused",
            instead='@field_validator("oidc_client_id")',
        ),
    ),
    *row(
        "creating a token requires the password or a recent sign-in, and the number of tokens is limited",
        guard("token-by-password", "test_token_creation_on_pages_requires_password"),
        guard("token-recent-sign-in", "test_person_without_password_needs_recent_provider_sign_in"),
        guard(
            "sign-in-time",
            "test_old_auth_time_of_provider_is_no_proof",
            instead="return now",
        ),
        guard("token-presence", "test_token_creation_on_pages_requires_password"),
        guard("token-count", "test_number_of_tokens_per_person_is_limited"),
    ),
)
