"""Import and export: rows of a file become items, answers become rows of a file.

    with open("reviews.csv", "rb") as stream:
        rows = transfer.read(stream, "csv", id_field="id")
        result = transfer.import_items(queue, rows, on_bad=print)

    with open("reviews.csv", "rb") as stream:
        transfer.check(transfer.read(stream, "csv", id_field="id"))  # read the same rows, import nothing

    with transfer.whole_file(Path("answers.csv")) as stream:
        transfer.write(queue.answers(), stream, "csv", form=queue.policy.form)

Everything streams: memory does not grow with the number of rows.
"""

from leaseq.models import NewItem
from leaseq.transfer.delimited import DELIMITERS, QUOTES, Quotes, splits
from leaseq.transfer.encodings import decoded, gzipped, unpacked, without_gz
from leaseq.transfer.importing import (
    CheckResult,
    ImportResult,
    Rejects,
    Rows,
    addressed,
    array_values,
    check,
    import_items,
    read,
)
from leaseq.transfer.rows import (
    CONTENT_TYPES,
    DATES,
    ENVELOPE_FIELDS,
    FORMATS,
    TABLES,
    TEXT_TABLES,
    BadRow,
    ColumnMapping,
    Dates,
    FileItem,
    Format,
    Remedy,
    answer_shape,
    date_orders,
    foreign,
    format_of,
    from_envelope,
    in_zone,
    item_shape,
    period_of,
    time_of,
    utc_time,
)
from leaseq.transfer.tables import CellChoice, TableSummary, is_id
from leaseq.transfer.workbooks import SheetRows, first_rows
from leaseq.transfer.writing import (
    BEGINNING,
    AnswersSince,
    cell,
    encode,
    encode_items,
    unguarded,
    whole_file,
    write,
)
from leaseq.validation import rfc3339

__all__ = [
    "BEGINNING",
    "CONTENT_TYPES",
    "DATES",
    "DELIMITERS",
    "ENVELOPE_FIELDS",
    "FORMATS",
    "QUOTES",
    "TABLES",
    "TEXT_TABLES",
    "AnswersSince",
    "BadRow",
    "CellChoice",
    "CheckResult",
    "ColumnMapping",
    "Dates",
    "FileItem",
    "Format",
    "ImportResult",
    "NewItem",
    "Quotes",
    "Rejects",
    "Remedy",
    "Rows",
    "SheetRows",
    "TableSummary",
    "addressed",
    "answer_shape",
    "array_values",
    "cell",
    "check",
    "date_orders",
    "decoded",
    "encode",
    "encode_items",
    "first_rows",
    "foreign",
    "format_of",
    "from_envelope",
    "gzipped",
    "import_items",
    "in_zone",
    "is_id",
    "item_shape",
    "period_of",
    "read",
    "rfc3339",
    "splits",
    "time_of",
    "unguarded",
    "unpacked",
    "utc_time",
    "whole_file",
    "without_gz",
    "write",
]
