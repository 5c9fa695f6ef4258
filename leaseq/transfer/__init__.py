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
from leaseq.transfer.answers_since import BEGINNING, AnswersSince
from leaseq.transfer.cells import cell, unguarded
from leaseq.transfer.column_mapping import DATES, ColumnMapping, Dates, date_orders
from leaseq.transfer.delimited import splits
from leaseq.transfer.delimiters import DELIMITERS
from leaseq.transfer.encodings import decoded, gzipped, unpacked, without_gz
from leaseq.transfer.files import whole_file
from leaseq.transfer.formats import CONTENT_TYPES, FORMATS, TABLES, TEXT_TABLES, Format, foreign, format_of
from leaseq.transfer.importing import CheckResult, ImportResult, check, import_items
from leaseq.transfer.quotes import QUOTES, Quotes
from leaseq.transfer.reading import Rows, array_values, read
from leaseq.transfer.rejects import Rejects
from leaseq.transfer.rows import BadRow, FileItem, Remedy, from_envelope, utc_time
from leaseq.transfer.shapes import answer_shape, item_shape
from leaseq.transfer.sheets import SheetRows, first_rows
from leaseq.transfer.tables import TableSummary, column_letter
from leaseq.transfer.times import in_zone, period_of, rfc3339, time_of
from leaseq.transfer.values import CellChoice, is_id, kind_of
from leaseq.transfer.writing import encode, encode_items, write

__all__ = [
    "BEGINNING",
    "CONTENT_TYPES",
    "DATES",
    "DELIMITERS",
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
    "answer_shape",
    "array_values",
    "cell",
    "check",
    "column_letter",
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
    "kind_of",
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
