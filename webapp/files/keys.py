"""The files of answers: what an answer says of a file, and the keys by which files are kept.

A key is ``queue/item/random.signature``. The item is a digest of its id, so that a key reveals none and fits
every file system. The signature is over the person, the queue, the item, the question, and the name, size and
type of the file: an answer can name only what its person announced for this question, and the server needs to
keep nothing about it.
"""

from __future__ import annotations

import json
import mimetypes
import re
import secrets
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple

from itsdangerous import BadData, Signer, URLSafeTimedSerializer

from leaseq import Json
from leaseq.form import FILE_MEMBERS

TICKET_SECONDS = 900
"""How long an announced file may be sent."""
MAX_NAME = 120  # characters
MAX_FILES = 100  # of one question
ANY_TYPE = "application/octet-stream"

_LAST_PART = r"[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{43}"
_KEY = re.compile(rf"[a-z0-9._-]{{1,64}}/[0-9a-f]{{32}}/{_LAST_PART}", re.ASCII)
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_SEPARATOR = re.compile(r"[/\\]")
_INVISIBLE = ("C", "Zl", "Zp")  # categories: control and format characters, and separators of lines
_MAX_SUFFIX = 20


class Place(NamedTuple):
    """Where a file belongs, and who sends it."""

    queue: str
    id: str
    question: str
    person: str


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file, as an answer names it."""

    key: str
    name: str
    size: int  # bytes
    type: str  # as the sender's browser called it

    @property
    def last_part(self) -> str:
        """The last part of the key, by which the item's files differ."""
        return self.key.rpartition("/")[2]

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @property
    def text(self) -> str:
        """The file as the text of a form's input."""
        return json.dumps(self.to_json(), ensure_ascii=False, separators=(",", ":"))


def read_file(value: Json) -> SentFile | None:
    """The file that a value of an answer names; None if it is none."""
    if not isinstance(value, Mapping) or not set(FILE_MEMBERS) <= set(value):
        return None
    key, name, size, type = (value[member] for member in FILE_MEMBERS)
    if not all(isinstance(text, str) for text in (key, name, type)) or not _KEY.fullmatch(key):
        return None
    if not isinstance(size, int) or isinstance(size, bool):
        return None
    return SentFile(key, name, size, type)


def files_in(result: Json) -> Iterator[tuple[str, SentFile]]:
    """The files that an answer or a draft names, each with its question."""
    if not isinstance(result, Mapping):
        return
    for question, values in result.items():
        for value in values if isinstance(values, list) else ():
            file = read_file(value)
            if file is not None:
                yield question, file


@dataclass(frozen=True, slots=True)
class FileLimits:
    """The files that a question takes."""

    count: int = 1
    types: tuple[str, ...] = ()  # media types; empty: any
    max_bytes: int | None = None  # of each
    is_possible: bool = True  # whether the app keeps files at all

    def within(self, most: int | None) -> FileLimits:
        """The limits in an app that keeps files of at most so many bytes; None: it keeps none."""
        sizes = [size for size in (self.max_bytes, most) if size is not None]
        return replace(self, max_bytes=min(sizes, default=None), is_possible=most is not None)

    @property
    def kinds(self) -> list[str]:
        """The types as people call them: JPG, PDF."""
        endings = (mimetypes.guess_extension(type) or type.rpartition("/")[2] for type in self.types)
        return list(dict.fromkeys(ending.removeprefix(".").upper() for ending in endings))


def file_limits(question: Mapping[str, Any]) -> FileLimits:
    """The limits of a question, which `leaseq.form.is_for_files`: one file, unless its schema says more."""
    members = question["items"]["properties"]
    types = members["type"].get("enum") if isinstance(members["type"], dict) else None
    size = members["size"].get("maximum") if isinstance(members["size"], dict) else None
    return FileLimits(
        min(_whole(question.get("maxItems")) or 1, MAX_FILES),
        tuple(str(type) for type in types) if isinstance(types, list) else (),
        _whole(size),
    )


def _whole(value: Json) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def folder_of(queue: str, id: str) -> str:
    """The beginning of the keys of an item's files, without the slash."""
    return f"{queue}/{sha256(id.encode()).hexdigest()[:32]}"


def clean_name(name: str) -> str:
    """The name of a file without its folders and without invisible characters, which could make a name look
    like another. A long one is cut before its ending."""
    last = _SEPARATOR.split(name)[-1]
    visible = "".join(
        character for character in last if not unicodedata.category(character).startswith(_INVISIBLE)
    )
    text = " ".join(visible.split()).strip(". ")
    stem, dot, suffix = text.rpartition(".")
    if len(text) <= MAX_NAME:
        return text or "file"
    if not stem or len(suffix) > _MAX_SUFFIX:
        return text[:MAX_NAME]
    return stem[: MAX_NAME - len(suffix) - 1] + dot + suffix


def clean_type(type: str, name: str) -> str:
    """The media type that the sender named, else the one that the name suggests."""
    plain = type.partition(";")[0].strip().lower()
    if _TYPE.fullmatch(plain):
        return plain
    return mimetypes.guess_type(name)[0] or ANY_TYPE


class FileKeys:
    """Makes the keys of files, and tells which of them are a person's own."""

    def __init__(self, secret: str) -> None:
        self._signer = Signer(secret, salt="leaseq-file", digest_method=sha256)
        self._tickets = URLSafeTimedSerializer(secret, salt="leaseq-upload")

    def new_file(self, place: Place, name: str, size: int, type: str) -> SentFile:
        random = secrets.token_urlsafe(12)
        signature = self._signer.get_signature(_signed(place, random, name, size, type)).decode()
        return SentFile(f"{folder_of(place.queue, place.id)}/{random}.{signature}", name, size, type)

    def is_from(self, place: Place, file: SentFile) -> bool:
        """Whether this person announced this very file, for this question of this item."""
        folder, _, last_part = file.key.rpartition("/")
        random, _, signature = last_part.partition(".")
        signed = _signed(place, random, file.name, file.size, file.type)
        return folder == folder_of(place.queue, place.id) and self._signer.verify_signature(
            signed, signature.encode()
        )

    def ticket(self, file: SentFile, person: str) -> str:
        """A text that allows the person to send this file for `TICKET_SECONDS`."""
        return self._tickets.dumps([file.key, file.size, person])

    def read_ticket(self, ticket: str, key: str, person: str) -> int | None:
        """The size of the file that the person may send under this key; None if the ticket is for another, or
        is too old."""
        try:
            values: Any = self._tickets.loads(ticket, max_age=TICKET_SECONDS)
        except BadData:
            return None
        signed_key, size, signed_person = values
        return int(size) if (signed_key, signed_person) == (key, person) else None


def _signed(place: Place, random: str, name: str, size: int, type: str) -> bytes:
    return json.dumps([*place, random, name, size, type]).encode()
