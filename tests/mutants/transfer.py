"""Faults in what is imported and exported, and in the command line around it."""

from tests.mutants.mutant import Mutant, mutants

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        "leaseq/transfer/rows.py",
        "transfer/rows transfer/reading transfer/delimiters",
        (
            "a whole number gives no id",
            "if isinstance(found, int) and not isinstance(found, bool):",
            "if found is None:",
        ),
        ("true is an id", "isinstance(found, int) and not isinstance(found, bool)", "isinstance(found, int)"),
        ("fields that nobody knows are passed over", "    if unknown:\n", "    if unknown == ['']:\n"),
        (
            "a time without its offset will do",
            "            if found.tzinfo is not None:\n",
            "            if found is not None:\n",
        ),
        (
            "one bad row takes its batch along",
            '    arguments.row(item, "made-later" if item.id is None else item.id)\n',
            "",
        ),
    ),
    *mutants(
        "leaseq/transfer/cells.py",
        "transfer/writing transfer/round_trips",
        ("a cell with an @ is run", '("=", "+", "-", "@", ', '("=", "+", "-", '),
        ("a cell with a tab is run", '"\\t", "\\r", "\\n")', '"\\r", "\\n")'),
        ("a cell with a line feed is run", '"\\t", "\\r", "\\n")', '"\\t", "\\r")'),
        ("a cell with a full-width sign is run", ', "\\uff1d", "\\uff0b"', ', "\\uff0b"'),
        ("behind a pipe a sign is run", "([;,|\\t])", "([;,\\t])"),
        ("a number that goes on behind another mark is run", "(?:\\1|\\Z)", "(?:[;,|]|\\Z)"),
        (
            "in JSON a sign behind a delimiter is run",
            "_STRING.sub(_escaped, compact_json(value))",
            "compact_json(value)",
        ),
        ("a number with something behind it is run", "_NUMBER.fullmatch(value)", "_NUMBER.match(value)"),
        ("a negative number gets an apostrophe", " and not _NUMBER.fullmatch(value):", ":"),
    ),
    *mutants(
        "leaseq/transfer/writing.py",
        "transfer/writing transfer/round_trips",
        (
            "a column's name is run",
            "{name: cell(name) for name in names}",
            "dict(zip(names, names, strict=True))",
        ),
        ("lines end as the machine has it", 'lineterminator="\\r\\n"', 'lineterminator="\\n"'),
        ("tabs are commas", '"," if known == "csv" else "\\t"', '","'),
        (
            "one column more than the limit",
            "if len(columns) > MAX_COLUMNS:",
            "if len(columns) > MAX_COLUMNS + 1:",
        ),
        ("an empty array is no JSON", 'yield b"[]\\n" if before', 'yield b"\\n" if before'),
    ),
    *mutants(
        "leaseq/transfer/tables.py",
        "transfer/reading transfer/delimiters transfer/quotes transfer/rows",
        (
            "a row may have too many cells",
            "if len(cells) != len(names):",
            "if len(cells) < len(names):",
        ),
        ("a column may be there twice", "        if name in seen:\n", "        if name is None:\n"),
        (
            "what is not UTF-8 enters",
            "                if feed.not_utf8:\n",
            "                if feed.not_utf8 < 0:\n",
        ),
        (
            "a row is told by its last line",
            "yield Row(feed.first, cells, feed.span())",
            "yield Row(feed.last, cells, feed.span())",
        ),
        (
            "after a row that is too long the next is cut",
            "                if quoted:\n                    feed.skip_record()\n",
            "",
        ),
        (
            "where quotes are text a long row takes others along",
            "                if quoted:\n                    feed.skip_record()\n",
            "                feed.skip_record()\n",
        ),
        (
            "a header that a quote joins with a row is not told",
            "        if header.span:\n            self.count_joined(*header.span)\n",
            "",
        ),
        (
            "blank lines are not counted",
            "                    self._count_blank()\n",
            "                    pass\n",
        ),
    ),
    *mutants(
        "leaseq/transfer/quotes.py",
        "transfer/quotes",
        (
            "a quote that is left open changes nothing",
            "fields)):\n                found.quotes",
            "[])):\n                found.quotes",
        ),
        (
            "text may follow the quote that closes",
            "map(_CLOSED.fullmatch, fields)",
            "map(_CLOSED.match, fields)",
        ),
        ("what was read ahead is lost", "        spool.seek(0)\n", ""),
        ("what follows the open quote is lost", "    yield from ahead\n", ""),
        ("unquoted fields are not counted", "            found.unquoted += len(fields)\n", ""),
        ("a carriage return leaves a quote open", '.removesuffix(b"\\r")', ""),
    ),
    *mutants(
        "leaseq/transfer/delimiters.py",
        "transfer/reading transfer/delimiters",
        ("one column of pipes is not asked about", 'or (*found, ",")', 'or (",",)'),
        ("a TSV without tabs is not asked about", 'else (*found, "\\t")', 'else ("\\t",)'),
    ),
    *mutants(
        "leaseq/transfer/reading.py",
        "transfer/quotes",
        (
            "rows that a quote joins are not told",
            "        if self._table and row.span:\n",
            "        if False:\n",
        ),
    ),
    *mutants(
        "leaseq/transfer/lines.py",
        "transfer/reading transfer/delimiters",
        (
            "a byte order mark is part of the first name",
            "            data = data.removeprefix(BOM)\n",
            "            pass\n",
        ),
    ),
    *mutants(
        "leaseq/transfer/arrays.py",
        "transfer/reading transfer/delimiters transfer/round_trips",
        (
            "a backslash quotes nothing",
            "self._at = found.end() + 1  # past",
            "self._at = found.end()  # past",
        ),
        ("a bracket in an element ends the array", "if self._depth == 0 and mark in", "if mark in"),
        ("half an array is whole", "        if not end:\n", "        if end is None:\n"),
    ),
    *mutants(
        "leaseq/transfer/importing.py",
        "transfer/importing",
        ("bad rows are not counted", "            rejected += row.lines\n", ""),
        ("a bad row of several lines counts for one", "rejected += row.lines", "rejected += 1"),
        ("the last rows stay behind", "            send()\n    send()\n", "            send()\n"),
        ("a batch enters twice", "        batch.clear()\n", ""),
    ),
    *mutants(
        "leaseq/transfer/picking.py",
        "transfer/picking",
        (
            "a date is in the machine's zone",
            "found if found.tzinfo else found.replace(tzinfo=UTC)",
            "found if found.tzinfo else found.astimezone()",
        ),
        (
            "an empty cell is a priority",
            "if self.priority is not None and _there(row.get(self.priority)):",
            "if self.priority is not None:",
        ),
    ),
    *mutants(
        "leaseq/cli/transfers.py",
        "cli/import cli/export",
        ("bad rows are no failure", "    if result.rejected:\n", "    if result.rejected < 0:\n"),
        ("late answers come unasked", "        with_late=with_late,\n", "        with_late=True,\n"),
    ),
)
