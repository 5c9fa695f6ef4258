"""Gzipped files, and files in other encodings."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaseq import transfer
from leaseq.errors import Invalid
from leaseq.transfer import encodings
from tests.support.refused import refused


class Trickle(io.BytesIO):
    """A pipe that returns one byte at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(1, size) if size and size > 0 else 1)


def text(data: bytes, encoding: str | None = None, stream: Callable[[bytes], io.BytesIO] = io.BytesIO) -> str:
    return transfer.decoded(transfer.unpacked(stream(data)), encoding).read().decode()


@pytest.mark.parametrize("stream", [io.BytesIO, Trickle])
def test_gzip_is_detected_by_its_first_bytes_and_unpacked(stream: Callable[[bytes], io.BytesIO]) -> None:
    assert text(gzip.compress(b"a,b\n1,2\n"), stream=stream) == "a,b\n1,2\n"
    assert text(gzip.compress(b"a\n") + gzip.compress(b"b\n"), stream=stream) == "a\nb\n"
    assert text(gzip.compress("é".encode("latin-1")), "latin-1", stream) == "é"
    for plain in (b"", b"\x1f", b"a\n"):
        assert text(plain, stream=stream) == plain.decode()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(gzip.compress(b"a" * 100)[:-9], id="cut off"),
        pytest.param(gzip.compress(b"a" * 100)[:-8] + b"12345678", id="wrong checksum"),
        pytest.param(b"\x1f\x8b\x08\x00nonsense, and more of it", id="invalid data"),
        pytest.param(b"\x1f\x8b", id="magic number only"),
        pytest.param(gzip.compress(b"a") + b"rest", id="trailing data"),
    ],
)
def test_damaged_gzip_is_refused(data: bytes) -> None:
    with refused("gzip", "file"):
        text(data)


def test_large_unpacked_data_is_not_held_in_memory() -> None:
    gzip_file = io.BytesIO(gzip.compress(b"x" * 1_023 + b"\n", 9) * 20_000)
    tracemalloc.start()
    stream = transfer.decoded(transfer.unpacked(gzip_file))
    assert sum(1 for _ in stream) == 20_000
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


ROWS = st.lists(st.text("aé,1", min_size=1, max_size=6), min_size=1, max_size=5)


@given(
    rows=ROWS,
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "cp1252"]),
    data=st.data(),
)
def test_stray_nul_does_not_change_the_encoding(
    rows: list[str], end: str, encoding: str, data: st.DataObject
) -> None:
    content = "".join(row + end for row in ["id,name", *rows]).encode(encoding)
    place = data.draw(st.integers(0, len(content)))
    assert encodings.unicode_encoding_of(content[:place] + b"\0" + content[place:]) is None


@pytest.mark.parametrize("word", ["имя", "όνομα", "שם", "नाम", "名前は", "이름"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_mark_is_detected(word: str, encoding: str) -> None:
    for content in (f"{word * 3}\n{word}\n", f"{word},{word}\n{word}", f"{word * 9},{word}\r\n" * 20):
        assert encodings.unicode_encoding_of(content.encode(encoding)) == encoding


@pytest.mark.parametrize(
    "encoding", ["cp1252", "utf-16", "utf-16-le", "shift_jis", "utf_8", "iso2022_jp", "utf-8-sig"]
)
@pytest.mark.parametrize("chunk", [1, 3, 65_536])
def test_each_encoding_is_read(monkeypatch: pytest.MonkeyPatch, encoding: str, chunk: int) -> None:
    monkeypatch.setattr(encodings, "CHUNK", chunk)
    content = "語,\r\nテスト,\n" if "j" in encoding else "naïve,ÿ\r\n“é”,\n"
    assert text(content.encode(encoding), encoding).removeprefix("\ufeff") == content


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (b"a\nb\xe9\nc", "ascii", "ascii, in which the byte 0xe9 of line 2 is not valid"),
        (b"a\nb\n\x81\n", "cp1252", "cp1252, in which the byte 0x81 of line 3 is not valid"),
        ("語\n".encode("shift_jis") + b"\xff\n", "shift_jis", "the byte 0xff of line 2 is not valid"),
        ("語\n".encode("shift_jis") + b"\x8c", "shift_jis", "the byte 0x8c of line 2 is not valid"),
        ("a\nb".encode("utf-16") + b"\x00", "utf-16", "the byte 0x00 of line 2 is not valid"),
        (b"a\n\x1b$B\xff", "iso2022_jp", "the byte 0xff of line 2 is not valid"),
        (b"plain", "utf-16", "got utf-16, which it is not"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 2, 65_536])
def test_wrong_encoding_is_reported_with_the_line(
    monkeypatch: pytest.MonkeyPatch, data: bytes, encoding: str, message: str, chunk: int
) -> None:
    monkeypatch.setattr(encodings, "CHUNK", chunk)
    with pytest.raises(Invalid) as error:
        text(data, encoding)
    assert message in str(error.value)
    assert "name the encoding that the file has" in str(error.value)


@pytest.mark.parametrize(
    "name",
    [
        "klingon",
        "",
        "ansi",
        "base64",
        "rot13",
        "zip",
        "idna",
        "unicode_escape",
        "undefined",
        "\udcff",
        "a" * 300,
    ],
)
def test_unknown_encoding_is_refused(name: str) -> None:
    with refused("encoding", "encoding", what="name") as error:
        text(b"a", name)
    assert f"did you mean {name}?" not in str(error.value)


def test_gzip_output_is_the_same_each_time() -> None:
    def pack() -> bytes:
        stream = io.BytesIO()
        with transfer.gzipped(stream) as gzip_stream:
            gzip_stream.write(b"a\n")
        return stream.getvalue()

    assert pack() == pack()
    assert gzip.decompress(pack()) == b"a\n"


def test_gz_suffix_is_removed_from_the_file_name() -> None:
    names = ["rows.csv.gz", "ROWS.TSV.GZ", "rows.gz", "gz", "rows.csv"]
    assert [transfer.without_gz(name) for name in names] == ["rows.csv", "ROWS.TSV", "rows", "gz", "rows.csv"]


def test_line_ends_of_cr_are_recognized_by_the_first_chunk() -> None:
    """A line feed in a later cell doesn't turn all lines before it into one."""
    before = b"aa,b\r" + b"1,2\r" * 16_382 + b"1,2"
    assert len(before) == encodings.CHUNK
    assert text(before + b'\r3,"x\ny"\r') == before.replace(b"\r", b"\n").decode() + '\n3,"x\ny"\n'
