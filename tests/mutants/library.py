"""Faults in the Python around the moves: what is checked, what is read of a reply, and workers."""

from tests.mutants.mutant import Mutant, mutants

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        "leaseq/engine/codec.py",
        "renew finish answers looking late_of_several",
        ("a renewed lease ends when the first one did", 'if mark[0] == "x":', 'if mark[0] == "X":'),
        ("no answer came late", 'late=detail == "1"', "late=False"),
        ("a draft is not given along", "None if draft is None else _parse(draft.decode(), 0)[0]", "None"),
        ("times are a thousandth", "float(microseconds) / 1e6", "float(microseconds) / 1e9"),
        (
            "finished by one is finished by all",
            '("reserved", "inbound", "scheduled", "dead", "finished")',
            '("finished", "reserved", "inbound", "scheduled", "dead")',
        ),
        (
            "an answer that moved counts as an attempt",
            "for block in self.blocks if not block.moved)",
            "for block in self.blocks)",
        ),
        ("an event in the middle of an entry has no cursor of its own", '{name}.{len(found)}"', '{name}.0"'),
        ("a reason is shown as JSON", "reason = json.loads(detail) if how", "reason = detail if how"),
    ),
    *mutants(
        "leaseq/validation.py",
        "bad_input unit/json policy skills",
        ("an id at the limit is refused", "1 <= len(value) <= MAX_ID", "1 <= len(value) < MAX_ID"),
        ("a name past the limit is taken", "<= len(value) <= MAX_PERSON", "<= len(value) <= MAX_PERSON + 1"),
        ("JSON at the limit is refused", "if size > MAX_JSON_BYTES:", "if size >= MAX_JSON_BYTES:"),
        ("characters are counted and not bytes", "size = len(text.encode())", "size = len(text)"),
        (
            "a whole number at its least is refused",
            "not least <= value <= most:",
            "not least < value <= most:",
        ),
        (
            "a number at its most is refused",
            "or not least <= value <= most  #",
            "or not least <= value < most  #",
        ),
        (
            "true is a number",
            "isinstance(value, int | float)\n        or isinstance(value, bool)",
            "isinstance(value, int | float)",
        ),
        (
            "one skill more than the limit",
            "if len(found) > MAX_SKILLS or",
            "if len(found) > MAX_SKILLS + 1 or",
        ),
        ("skills have an order", "found = sorted(set(given)) if", "found = list(dict.fromkeys(given)) if"),
        ("a text of one character too many", "or len(value) > longest:", "or len(value) > longest + 1:"),
    ),
    *mutants(
        "leaseq/validation.py",
        "unit/json bad_input",
        ("the keys of one object by itself", " or set(map(type, value)) != _TEXT)", ")"),
        ("the keys of what is in an object", 'text.find("{", 1) > 0 or', ""),
        ("a level too deep", "for _ in range(MAX_JSON_DEPTH + 1):", "for _ in range(MAX_JSON_DEPTH + 2):"),
    ),
    *mutants(
        "leaseq/engine/arguments.py",
        "bad_input looking pages",
        ("a lease of another queue will do", "if lease.queue != queue:", "if lease.queue == '':"),
        (
            "a page of events begins with the last one's",
            "return found[1], int(found[2]) + 1",
            "return found[1], int(found[2])",
        ),
        ("a time without a zone will do", " or value.tzinfo is None or", " or"),
        ("a token of nothing", '"token", 1, 2**53', '"token", 0, 2**53'),
    ),
    *mutants(
        "leaseq/policy.py",
        "bad_input policy",
        ("a lease of no time", "Seconds(0.1, WEEK)", "Seconds(0, WEEK)"),
        ("101 answers", 'Whole(1, 100, N_("people"))', 'Whole(1, 101, N_("people"))'),
        (
            "a form is no part of a policy's version",
            'for name in ("form", "title", "instructions", "durable")]',
            'for name in ("title", "instructions", "durable")]',
        ),
        ("holds of none", 'Whole(1, 100, N_("items"))', 'Whole(0, 100, N_("items"))'),
    ),
    *mutants(
        "leaseq/policy_fields.py",
        "bad_input policy",
        ("bands that are one band are refused", "        if low > high:", "        if low >= high:"),
    ),
    *mutants(
        "leaseq/queue/producer.py",
        "enqueue dedupe bad_input",
        ("all items in one call", "len(rows) == 3 * _BATCH or size", "size"),
        ("a call of any size", "== 3 * _BATCH or size > _BATCH_BYTES:", "== 3 * _BATCH:"),
        (
            "a twin is not named",
            "return Enqueued(entered.twin or row[0],",
            "return Enqueued(row[0],",
        ),
        (
            "duplicates are counted as added",
            "return EnqueuedMany(added, total - added)",
            "return EnqueuedMany(total, total - added)",
        ),
    ),
    *mutants(
        "leaseq/queue/producer.py",
        "request_ids",
        (
            "an enqueue sent again names an item that is not there",
            "ids.item_ids(1)[0] if chosen is None else ids.derived_id(self.name, chosen, 0)",
            "ids.item_ids(1)[0]",
        ),
        (
            "many sent again enter twice",
            "return lambda place: ids.derived_id(self.name, chosen, place)",
            "return lambda place: ids.item_ids(place + 1)[place]",
        ),
        (
            "a request that is not remembered is used for other content",
            "entered.differing and (derived or on_conflict)",
            "entered.differing and on_conflict",
        ),
        (
            "the same payload in another text conflicts",
            '"payload")) != digest.digest(payload)',
            '"payload")) != payload',
        ),
        ("a chunk counts its conflicts from 0", "Conflict(sent + place - 1", "Conflict(place - 1"),
    ),
    *mutants(
        "leaseq/queue/consumer.py",
        "again completeness finish_and_next waiting cost_of_rules undo_finish",
        (
            "who has more to look at is told that there is nothing",
            "while reply.code == replies.MORE:",
            'while reply.code == b"most":',
        ),
        (
            "the next item after more to look at is another call",
            "self.reserve(held[2], skills=can, request_id=request)",
            "self.reserve(held[2], skills=can)",
        ),
        (
            "a form that was read once counts for ever",
            "            _ = self.policy  # read the form anew\n",
            "            raise misfit or Invalid('result', '')\n",
        ),
    ),
    *mutants(
        "leaseq/engine/replies.py",
        "lost_lease",
        (
            "somebody else is said to have what the same person has",
            "if theirs := [one for one in item.leases if one.person == person]:",
            "if theirs := [one for one in item.leases if not one.person]:",
        ),
        (
            "it is said to wait where their answer stands",
            "(answer.token, answer.person) == (token, person)",
            "answer.token == -token",
        ),
        (
            "what was not finished is said to be over",
            'if grant is not None and grant.how == "held":',
            'if grant is not None and grant.how == "":',
        ),
        (
            "what is dead is said to have used up its attempts",
            'item.state == "dead" and item.failures < item.max_attempts',
            'item.state == ""',
        ),
    ),
    *mutants(
        "leaseq/engine/replies.py",
        "lost_replies",
        (
            "a remove sent again finds nothing",
            "None if reply.resent else ItemNotFound",
            "ItemNotFound",
        ),
    ),
    *mutants(
        "leaseq/queue/consumer.py",
        "undo_finish waiting ended_waits",
        (
            "who stops waiting stays in line",
            "                self._commands.leave_line(waiter, who, request, last_token)\n",
            "                pass\n",
        ),
        (
            "what came while a wait was ended is handed over",
            "if found is None or listener.has_ended(stop):",
            "if found is None:",
        ),
        (
            "what came while a wait was interrupted lies there",
            "            leave_line(broken_off=not isinstance(error, LeaseqError))\n",
            "            del error\n",
        ),
        ("a wait of any length", '"wait", 0, MAX_WAIT)', '"wait", 0, 10 * MAX_WAIT)'),
        ("a finish is undone for a minute", "UNDO_SECONDS * 1_000_000", "4 * UNDO_SECONDS * 1_000_000"),
    ),
    *mutants(
        "leaseq/queue/admin.py",
        "clear retention cost lost_replies revive_all",
        (
            "a clear takes back more than was asked for",
            "left -= sum(counts[:3]) + counts[4]",
            "left -= sum(counts[:2])",
        ),
        ("one more is revived", "if len(revived) == most:", "if len(revived) > most:"),
        ("who had it first counts", "item.history[-1].person", "item.history[0].person"),
    ),
    *mutants(
        "leaseq/queue/inspection.py",
        "find pages looking",
        ("an answer of the very end is in", "answer.finished_at < until", "answer.finished_at <= until"),
        (
            "an answer of the very beginning is out",
            "answer.finished_at >= since",
            "answer.finished_at > since",
        ),
        (
            "a page looks further than it was told",
            "cursor is None or len(found) == most or scanned >= look",
            "cursor is None or len(found) == most",
        ),
        (
            "a page ends with the first call",
            "asked = min(most - len(found), _PAGE)",
            "asked = min(most, _PAGE)",
        ),
    ),
    *mutants(
        "leaseq/queue/inspection.py",
        "late_items",
        ("an item with late answers is told twice", "if id not in seen:", "if id is not seen:"),
    ),
    *mutants(
        "leaseq/queue/base.py",
        "lost_replies policy",
        (
            "a change sent again finds its own and calls it another's",
            "if not reply.resent or now != wanted:",
            "if now is not wanted:",
        ),
        (
            "a queue that is there is taken for a new one",
            "            if create_only and not made:\n",
            "            if create_only and not made and self.name == '':\n",
        ),
        (
            "a new queue whose reply was lost is another's",
            " or (reply.resent and self.policy == policy)",
            "",
        ),
        (
            "a queue is not in the list",
            "            self._client.redis.sadd(QUEUES, self.name)\n",
            "            pass\n",
        ),
    ),
    *mutants(
        "leaseq/queue/__init__.py",
        "policy",
        ("a name that was lost stays so", "missing = connection.names - names", "missing = set[str]()"),
        (
            "a queue that is gone is in the list",
            "there = sorted(name for name in names | missing if",
            "there = sorted(name for name in names | missing if name or",
        ),
    ),
    *mutants(
        "leaseq/engine/digest.py",
        "dedupe",
        ("the order of keys makes another payload", "sort_keys=True, ", ""),
        ("1.0 is not 1", "return int(number) if number.is_integer() else number", "return number"),
    ),
    *mutants(
        "leaseq/engine/ids.py",
        "enqueue connect unit/ids",
        (
            "a fork's child makes its parent's request ids",
            "os.register_at_fork(after_in_child=_name_process)\n",
            "",
        ),
        (
            "ids of one millisecond are made twice",
            "later = fresh >> _RANDOM_BITS > self._last >> _RANDOM_BITS",
            "later = True",
        ),
    ),
    *mutants(
        "leaseq/engine/ids.py",
        "request_ids",
        ("two queues make one id of a request", 'f"{queue}\\0{request}', 'f"{request}'),
        ("all of a request's items have one id", "{request}\\0{place}", "{request}"),
    ),
    *mutants(
        "leaseq/form.py",
        "finish_and_next bad_input policy",
        ("any answer fits", "    if validator.is_valid(result):\n", "    if validator:\n"),
        ("every form has one version", "sha256(json.dumps(form, sort_keys=True).encode())", "sha256(b'')"),
    ),
    *mutants(
        "leaseq/worker/source.py",
        "worker/working worker/leases",
        (
            "more in work than one person may hold",
            "if self._inside >= self._holds:",
            "if self._inside > self._holds:",
        ),
        ("a lease that is over is taken again", "                self._past.append(lease.token)\n", ""),
        (
            "what a lost reply gave is not looked for",
            "            self._unsure = True\n            raise",
            "            raise",
        ),
    ),
    *mutants(
        "leaseq/worker/heartbeat.py",
        "worker/leases",
        ("a renewal comes when the lease is over", "_PART = 1 / 3", "_PART = 1.5"),
        (
            "a lease dropped while its renewal is on its way is renewed for ever",
            "            if new or key in self._kept:\n",
            "            if True:\n",
        ),
        (
            "renewals that are used up are tried for ever",
            "        except LeaseqError as error:  # lost",
            "        except ZeroDivisionError as error:  # lost",
        ),
        (
            "renewals follow the first lease's length",
            "            self._plan(kept, kept.left() * _PART)\n",
            "            self._plan(kept, lease.lease_seconds * _PART)\n",
        ),
    ),
    *mutants(
        "leaseq/worker/worker.py",
        "worker/leases worker/ends worker/working",
        ("what a killed worker left is renewed", "if not source.was_left(lease):", "if source is not None:"),
        (
            "what was given back is sent all the same",
            "            given_back = job.stage",
            "            given_back = False and job.stage",
        ),
        (
            "the first queue has all turns",
            "                    order.append(source)\n",
            "                    order.insert(0, source)\n",
        ),
        (
            "what comes when it stops is worked",
            "        if self._stop.is_set():\n            self._return",
            "        if self._over.is_set():\n            self._return",
        ),
    ),
    *mutants(
        "leaseq/worker/outcomes.py",
        "worker/leases worker/working worker/ends",
        ("a misfit is lost and no failure", "                self._fail(queue, lease, told(misfit))\n", ""),
        (
            "what is lost ends the worker",
            "        if isinstance(error, (LeaseLost, ItemNotFound)):",
            "        if isinstance(error, ItemNotFound):",
        ),
    ),
    *mutants(
        "leaseq/server/supervisor.py",
        "server/supervisor",
        (
            "what a dead child left behind is not told to end",
            "        _signal_group(running.ended.pid, signal.SIGTERM)",
            "        _ = (running.ended.pid, signal.SIGTERM)",
        ),
        (
            "what a dead child left behind lives on where it does not want to end",
            "        child = running.child\n        _end_the_rest(running)\n",
            "        child = running.child\n        running.ended = None\n",
        ),
        (
            "what a dead child left behind outlives the supervisor",
            "            _end_the_rest(running)\n            if running.process",
            "            if running.process",
        ),
        (
            "what a child left behind that was never ready lives on",
            "{_how(_exit_code(process))} before",
            "{_how(process.wait())} before",
        ),
    ),
)
