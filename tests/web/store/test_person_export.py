"""What is exported of a person."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import leaseq
from leaseq.webapp.store.accounts import Accounts, keys
from leaseq.webapp.store.person_export import person_document
from tests.conftest import Server
from tests.web.store.conftest import NAME, erase


def test_the_export_has_all_of_it(filled: leaseq.Queue, server: Server, accounts: Accounts) -> None:
    document = json.loads("".join(person_document(server.client, accounts, NAME)))
    assert (document["format"], document["name"]) == ("leaseq.person/1", NAME)
    assert document["account"]["team"] == "red"
    assert document["sign_in"]["failed"] == 1
    assert len(document["sign_in"]["sessions_seen_at"]) == 1
    notices = document["sign_in"]["notices"]
    assert [(one["what"], one["by"]) for one in notices] == [("sign-in.provider-tied", NAME)]
    assert {datetime.fromisoformat(one["at"]).tzinfo for one in notices} == {UTC}
    lists = ("tokens", "invitations", "log", "activity", "recent", "access", "saved_views", "imports")
    assert [
        name for name in (*lists, "simulations", "webhook_endpoints", "messages") if not document[name]
    ] == []
    assert document["messages"][0]["text"] == "Is it?"
    assert document["stored_responses"]
    items = {one["id"]: one for one in document["items"]}
    assert len(items) == 2
    (answered,) = [one for one in items.values() if one["answers"]]
    assert answered["answers"][0]["result"] == {"v": 1}
    (held,) = [one for one in items.values() if one["has_draft"]]
    assert (held["draft"], held["grants"][0]["how"]) == ({"half": 1}, "held")
    assert [one["queue"] for one in document["queues"]] == ["work"]
    secrets = [raw.decode() for raw in server.redis.hkeys(keys.TOKENS)]
    text = json.dumps(document)
    assert not [one for one in (*secrets, "argon2") if one in text]
    erase(server, accounts)
    nothing = json.loads("".join(person_document(server.client, accounts, NAME)))
    assert nothing["account"] is None
    assert [name for name, value in nothing.items() if isinstance(value, list) and value] == ["queues"]
