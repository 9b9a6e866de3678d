"""Text that is not UTF-8: which encoding is taken, that it is said, and that every door agrees."""

import gzip

import pytest

import dagora
from dagora.base.errors import DagoraError, DataError
from dagora.data import text_encoding
from dagora.data.text_encoding import encoding_of

TEXT = "größe,straße\n" + "müde,0.5\n“wach”,1.5\n" * 30
SAID = {
    "utf-8": None,
    "utf-8-sig": None,
    "cp1252": "the text is not UTF-8, and is read as cp1252 (as in 'größe'): if letters look wrong, save it as UTF-8",
    "utf-16": "the text is read as UTF-16",
    "utf-16-le": "the text is read as UTF-16LE",
    "utf-16-be": "the text is read as UTF-16BE",
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", SAID)
def test_every_door_reads_the_same_and_says_the_encoding(encoding, mark, packed, tmp_path):
    content = TEXT.replace(",", mark).encode(encoding)
    file = tmp_path / ("t.csv.gz" if packed else "t.csv")
    file.write_bytes(gzip.compress(content) if packed else content)
    table, scanned = dagora.read_table(file), dagora.open_rows(file)
    assert table.names == ("größe", "straße")
    assert table.schema[0].levels == ("müde", "“wach”")
    assert scanned.schema == table.schema
    sampled = dagora.open_rows(file, sample=1000)
    assert sampled.schema == table.schema
    said = [] if SAID[encoding] is None else [SAID[encoding]]
    for overview in (table.overview, scanned.overview, sampled.overview, dagora.inspect(file)):
        assert [line for line in overview.warnings if line.startswith("the text is")] == said


def test_letters_far_down_decide(tmp_path, monkeypatch):
    monkeypatch.setattr(text_encoding, "CHUNK", 1000)
    file = tmp_path / "t.csv"
    file.write_bytes(b"a,b\n" + b"x,2\n" * 5000 + "ä,3\n".encode("cp1252"))
    assert dagora.read_table(file).schema[0].levels == ("x", "ä")
    file.write_bytes(b"a,b\n" + b"x,2\n" * 5000 + "ä,3\n".encode())
    assert encoding_of(file) == "utf-8-sig"


@pytest.mark.parametrize(
    ("before", "wrong"),
    [(b"x,2\n", b"\xe4\x9d,2\n"), ("ä,2\n".encode(), b"\xe4,2\n")],
    ids=["byte", "letter"],
)
def test_lines_are_counted_from_the_beginning_of_a_long_file(before, wrong, tmp_path, monkeypatch):
    monkeypatch.setattr(text_encoding, "CHUNK", 100)
    file = tmp_path / "t.csv"
    file.write_bytes(before * 500 + wrong)
    with pytest.raises(DataError, match="line 501 "):
        encoding_of(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\nx\xe4,2\ny\x9d,2\n", "line 3 has a byte .0x9d. that is neither UTF-8 nor cp1252"),
        (b"a,b\nx\xe4,2\n\x00y,2\n", "line 3 has a byte .0x00."),
        ("ä,b\n".encode() * 9 + b"\xe4,2\n", "line 10 is not in UTF-8, though the text is elsewhere"),
    ],
)
@pytest.mark.parametrize("door", [dagora.read_table, dagora.open_rows, dagora.inspect, dagora.learn])
def test_what_cannot_be_decided_is_refused(content, message, door, tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    with pytest.raises(DagoraError, match=f"^{file}: {message}") as caught:
        door(file)
    assert isinstance(caught.value, DataError)


def test_files_of_a_folder_may_differ(tmp_path):
    (tmp_path / "a.csv").write_bytes("ort,b\nKöln,1\nUlm,2\n".encode("cp1252") * 1)
    (tmp_path / "b.csv").write_bytes("ort,b\nKöln,1\nGießen,2\n".encode())
    rows = dagora.open_rows(tmp_path)
    assert rows.schema[0].levels == ("Gießen", "Köln", "Ulm")
    assert sum("cp1252" in line for line in rows.overview.warnings) == 1


def test_a_text_that_ends_inside_of_a_letter_is_not_utf8(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,caf\xc3")
    assert encoding_of(tmp_path / "t.csv") == text_encoding.WINDOWS
