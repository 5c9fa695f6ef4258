"""The export of a person's data."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import leaseq
from leaseq.webapp.store.accounts import Accounts, model
from leaseq.webapp.store.person_data import person_document
from tests.conftest import Server
from tests.web.store.conftest import NAME, erase


def test_export_contains_all_data_of_person(
    filled_queue: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    document = json.loads("".join(person_document(server.client, accounts, NAME)))
    assert (document["format"], document["name"]) == ("leaseq.person/1", NAME)
    assert document["account"]["team"] == "red"
    assert document["sign_in"]["failed"] == 1
    assert len(document["sign_in"]["sessions_seen_at"]) == 1
    notices = document["sign_in"]["notices"]
    assert [(notice["what"], notice["by"]) for notice in notices] == [("sign-in.provider-tied", NAME)]
    assert {datetime.fromisoformat(notice["at"]).tzinfo for notice in notices} == {UTC}
    list_names = ("tokens", "invitations", "log", "activity", "recent", "access", "saved_views", "imports")
    assert [
        name for name in (*list_names, "simulations", "webhook_endpoints", "messages") if not document[name]
    ] == []
    assert document["messages"][0]["text"] == "Is it?"
    assert document["stored_responses"]
    items = {item["id"]: item for item in document["items"]}
    assert len(items) == 2
    (answered_item,) = [item for item in items.values() if item["answers"]]
    assert answered_item["answers"][0]["result"] == {"v": 1}
    (held_item,) = [item for item in items.values() if item["has_draft"]]
    assert (held_item["draft"], held_item["grants"][0]["how"]) == ({"half": 1}, "held")
    assert [queue["queue"] for queue in document["queues"]] == ["work"]
    secrets = [raw.decode() for raw in server.redis.hkeys(model.TOKENS)]
    text = json.dumps(document)
    assert not [secret for secret in (*secrets, "argon2") if secret in text]
    erase(server, accounts)
    empty_document = json.loads("".join(person_document(server.client, accounts, NAME)))
    assert empty_document["account"] is None
    assert [name for name, value in empty_document.items() if isinstance(value, list) and value] == ["queues"]
