"""Faults in the way to the server: links, what is sent again, what is waited for, and how errors are told."""

from tests.mutants.mutant import Mutant, mutants

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        "leaseq/engine/connection.py",
        "resend lost_replies faults unconfirmed",
        (
            "a call is sent three times",
            "elif _is_broken_link(error) and not resent:\n                    resent = True\n",
            "elif _is_broken_link(error) and resent < 2:\n                    resent += 1\n",
        ),
        ("a lost reply is an error", "elif _is_broken_link(error) and not resent:", "elif False:"),
        ("a reply says never that it was sent again", "reply[1:], resent)", "reply[1:], False)"),
        ("a script that is missing is loaded but once", "and loads < _LOADS:", "and loads < 1:"),
        (
            "who is away refused",
            'raise ServerUnavailable(f"no answer from {without_password(self._url)}: {said}") from error',
            'raise ServerRefused(f"no answer from {without_password(self._url)}: {said}") from error',
        ),
        (
            "a wrong password is tried twice",
            "return broken and not isinstance(error, rx.AuthenticationError)",
            "return broken",
        ),
        (
            "a primary without its replicas is asked again",
            'or str(error).startswith("NOREPLICAS")',
            'or str(error).startswith("NOREPLICATION")',
        ),
        (
            "waits are longer than the link's own patience",
            "self._link.timeout * 800",
            "self._link.timeout * 8000",
        ),
    ),
    *mutants(
        "leaseq/engine/transport.py",
        "connect faults resend unconfirmed durable",
        (
            "a fork's child has its parent's links",
            "        self._idle = []\n\n\n_pooled",
            "        pass\n\n\n_pooled",
        ),
        (
            "a link that was given up in the middle is used again",
            "BaseException:\n            connection.disconnect()\n            raise\n        self",
            "BaseException:\n            self._idle.append(connection)\n            raise\n        self",
        ),
        (
            "links to a primary that confirms nothing are kept",
            "            self.reset()\n            raise\n",
            "            raise\n",
        ),
        (
            "broken links that lie idle are kept",
            "                self._idle.pop().disconnect()\n",
            "                break\n",
        ),
    ),
    *mutants(
        "leaseq/engine/transport.py",
        "silence",
        ("who is silent for a moment is left", "            if is_replaced():\n", "            if True:\n"),
        ("who was replaced is waited for", "            if is_replaced():\n", "            if False:\n"),
        ("each look takes as long as the first", "            pause = _AGAIN\n", ""),
        (
            "a silence is waited out for ever",
            "            if left <= pause:\n",
            "            if left <= 0:\n",
        ),
    ),
    *mutants(
        "leaseq/engine/transport.py",
        "conformance/topology/failover",
        ("the other nodes are not asked", "return any(host and", "return False and any(host and"),
    ),
    *mutants(
        "leaseq/engine/sentinel.py",
        "conformance/topology/sentinels",
        ("a sentinel that hangs is asked again", "self._silent[sentinel] = monotonic()", "pass"),
    ),
    *mutants(
        "leaseq/engine/sentinel.py",
        "conformance/topology/failover",
        (
            "the sentinels are not asked",
            "self.connection_pool.get_master_address() != ",
            "(self.host, self.port) != ",
        ),
    ),
    *mutants(
        "leaseq/engine/transport.py",
        "connect",
        ("nobody waits longer than a minute", "TIMEOUT = 5.0", "TIMEOUT = 60.0"),
    ),
    *mutants(
        "leaseq/engine/transport.py",
        "conformance/topology/urls",
        (
            "a cluster does not wait for its replicas",
            "if wait is not None:\n                return exchange(patient, bound, args, wait, ",
            "if wait is bound:\n                return exchange(patient, bound, args, wait, ",
        ),
    ),
    *mutants(
        "leaseq/engine/durability.py",
        "durable unconfirmed",
        ("nobody's word is enough", "if _count(confirmed) < wait.needed:", "if _count(confirmed) < 0:"),
        ("a replica's word is taken for the disk's", "int(confirmed[0] if", "int(confirmed[1] + 1 if"),
        (
            "a disk that is synced each second will do",
            '    if fsync not in (None, "always"):\n        truth',
            '    if fsync == "":\n        truth',
        ),
        (
            "a disk that was slowed down later will do",
            '    if fsync not in (None, "always"):\n        raise',
            '    if fsync == "":\n        raise',
        ),
    ),
    *mutants(
        "leaseq/engine/durability.py",
        "unconfirmed",
        (
            "what is not confirmed for now is refused for good",
            "        return ServerUnavailable(made, taken=True)\n",
            "        return ServerRefused(made)\n",
        ),
    ),
    *mutants(
        "leaseq/engine/commands.py",
        "durable",
        ("a policy is never read again", "_KNOWN_FOR = 2.0", "_KNOWN_FOR = 2e9"),
        ("an enqueue waits for nothing", '_UNCONFIRMED = {"clear",', '_UNCONFIRMED = {"enqueue", "clear",'),
    ),
    *mutants(
        "leaseq/engine/notifications.py",
        "ended_waits waiting listener killed_waiters",
        (
            "who waits outlives their client",
            "return self.closed or (stop is not None and stop.is_set())",
            "return stop is not None and stop.is_set()",
        ),
        (
            "a stop is heard when it is time to look",
            "            if self.has_ended(waiter.stop):\n                waiter.roused.set()\n",
            "",
        ),
        (
            "nobody looks in the place of who was killed elsewhere",
            "min(channel.check_at, time.monotonic() + _CHECK_ON_OTHERS)",
            "channel.check_at",
        ),
        (
            "a wake-up between two looks is lost",
            "        look_again = random.uniform(*_LOOK_AGAIN)",
            "        listener.take_turn(waiter)\n        look_again = random.uniform(*_LOOK_AGAIN)",
        ),
        (
            "a wait goes on past its time",
            "min(left, look_again, max(found.seconds, 0.01))",
            "look_again + left",
        ),
        ("a wake-up of somebody else is mine", "if name in channel.waiters:", "for name in channel.waiters:"),
        ("a silent link is kept", "elif asked and silence > 2 * _SILENCE:", "elif asked and silence < 0:"),
    ),
    *mutants(
        "leaseq/engine/transport.py",
        "conformance/topology/slots",
        (
            "a move is half done in a slot on its way",
            "whole, wait = bound.whole, wait",
            "whole, wait = bound, wait",
        ),
        (
            "a move does not wait for a slot that is on its way",
            "                if monotonic() > until:\n",
            "                if turns > 0:\n",
        ),
    ),
    *mutants(
        "leaseq/engine/commands.py",
        "no_queue",
        (
            "a queue that is not there is an empty one",
            "if reply.code in REFUSED and (error",
            "if name in ('pause', 'resume', 'configure', 'enqueue') and (error",
        ),
    ),
    *mutants(
        "leaseq/engine/urls.py",
        "misuse connect",
        (
            "a host of a socket's URL is passed over",
            'if parts.scheme == "unix" and (parts.hostname or not parts.path):',
            'if parts.scheme == "unix" and not parts.path:',
        ),
        ("a piece of a password is named", 'if "@" not in query and re.fullmatch', "if re.fullmatch"),
    ),
    *mutants(
        "leaseq/engine/scripts.py",
        "scripts conformance/engines/script_errors",
        (
            "the line that includes a file is not counted",
            'line += piece.count("\\n") + 1',
            'line += piece.count("\\n")',
        ),
        ("an error names the file's first line", "{part.line + line - part.start}", "{part.line}"),
        ("a line past the end is one that no file has", 'min(line, self.source.count("\\n"))', "line"),
    ),
    *mutants(
        "leaseq/engine/script_errors.py",
        "conformance/engines/script_errors",
        ("an error in a script is not logged", "    _log.error(", "    _log.debug("),
        ("an error names a line of the joined text", "    return readable\n", "    return message\n"),
    ),
    *mutants(
        "leaseq/engine/durability.py",
        "conformance/engines/script_errors",
        (
            "an error in the script that is to be confirmed names no file",
            "said = message_of(error, wait.mark.script)",
            "said = str(error)",
        ),
        ("why a script was not loaded is not told", "            marked = loaded\n", "            pass\n"),
    ),
)
