"""Damaged files of other programs, and files that become far larger than they are: one line, and no memory spent."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pyreadstat
import pytest

import dagora
from dagora.base import files
from dagora.base.errors import DagoraError
from dagora.data import r_files, spreadsheets, workbook_size
from dagora.data.columns.reading_options import ReadingOptions
from tests.data.test_program_files import CODED, FRAME, LABELS, SMALL, Xdr, frame_of_r, save_book, write_rds

BOOK = """<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
 xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>"""
RELATIONS = """<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="{sheet}"/>
<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>"""
ROOT = """<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"""
SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def workbook(file, cells, texts="", sheet="worksheets/sheet1.xml"):
    """A workbook of one sheet, as small as can be."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("_rels/.rels", ROOT)
        packed.writestr("xl/workbook.xml", BOOK)
        packed.writestr("xl/_rels/workbook.xml.rels", RELATIONS.format(sheet=sheet))
        packed.writestr("xl/sharedStrings.xml", f"<sst {SPACE}>{texts}</sst>")
        packed.writestr(f"xl/{sheet}", f"<worksheet {SPACE}><sheetData>{cells}</sheetData></worksheet>")
    return file


NAMES = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
TEXTS = "<si><t>name</t></si>"


def test_the_small_workbook_is_one(tmp_path):
    cells = NAMES + '<row r="2"><c r="A2"><v>1</v></c></row><row r="3"><c r="A3"><v>2</v></c></row>'
    assert dagora.read_table(workbook(tmp_path / "t.xlsx", cells, TEXTS)).names == ("name",)


@pytest.mark.parametrize("sheet", ["worksheets/sheet1.xml", "elsewhere.xml"])
@pytest.mark.parametrize(
    "far",
    [
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        "<row r='9999999'><c s = '1' r = 'XFD9999999' ><v>1</v></c></row>",
    ],
)
def test_a_cell_far_away(far, sheet, tmp_path):
    with pytest.raises(
        DagoraError,
        match=r"has a sheet of [0-9]+ cells, most of them empty: if you trust it, save the sheet as CSV",
    ):
        dagora.read_table(workbook(tmp_path / "t.xlsx", NAMES + far, TEXTS, sheet))


def test_empty_cells_far_away_do_not_count(tmp_path):
    cells = (
        NAMES
        + '<row r="2"><c r="A2"><v>1</v></c></row><row r="3"><c r="A3"><v>2</v></c></row><row r="1048576" s="1"/>'
    )
    far = '<row r="4"><c r="XFD4" s="2"/></row>'
    assert dagora.read_table(workbook(tmp_path / "t.xlsx", cells + far, TEXTS)).n_rows == 2


@pytest.mark.parametrize("number", ["1", "&#49;"])
def test_a_long_text_in_many_cells(number, tmp_path, monkeypatch):
    monkeypatch.setattr(workbook_size, "TEXTS_FREELY", 1 << 20)
    long = f"<si><t>{'x' * 30_000}</t></si>"
    cells = NAMES + "".join(
        f'<row r="{k}"><c r="A{k}" t="s"><v>{number}</v></c></row>' for k in range(2, 2000)
    )
    with pytest.raises(DagoraError, match=r"becomes [0-9]+ MiB of text"):
        spreadsheets.read_sheet(workbook(tmp_path / "t.xlsx", cells, TEXTS + long), ReadingOptions())


def test_a_workbook_that_unpacks_to_much(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook_size, "UNPACKED_FREELY", 1 << 20)
    with pytest.raises(DagoraError, match="the workbook unpacks to more than 1 MiB"):
        spreadsheets.read_sheet(
            workbook(tmp_path / "t.xlsx", NAMES + " " * (2 << 20), TEXTS), ReadingOptions()
        )


def test_a_workbook_that_hides_its_size(tmp_path):
    content = io.BytesIO()
    workbook(content, NAMES + " " * (2 << 20), TEXTS)
    # The size that the directory states of the last part, the sheet.
    raw = bytearray(content.getvalue())
    place = raw.rfind(b"PK\x01\x02") + 24
    raw[place : place + 4] = struct.pack("<I", 100)
    (tmp_path / "t.xlsx").write_bytes(raw)
    with pytest.raises(DagoraError, match="may be damaged"):
        dagora.read_table(tmp_path / "t.xlsx")


ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
    '<office:body><office:spreadsheet><table:table table:name="s">{rows}</table:table></office:spreadsheet></office:body>'
    "</office:document-content>"
)
CELL = '<table:table-cell office:value-type="string"{more}><text:p>{text}</text:p></table:table-cell>'


def document(file, rows):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("META-INF/manifest.xml", "<manifest/>")
        packed.writestr("content.xml", ODS.format(rows=rows))
    return file


def row(*cells, more="", of_cell=""):
    return (
        f"<table:table-row{more}>"
        + "".join(CELL.format(text=cell, more=of_cell) for cell in cells)
        + "</table:table-row>"
    )


def test_an_open_document(tmp_path):
    blank = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    file = document(tmp_path / "t.ods", row("a", "b") + row("x", "y") + row("y", "y") + blank)
    assert dagora.read_table(file).names == ("a", "b")


@pytest.mark.parametrize(
    ("more", "of_cell", "text", "message"),
    [
        (
            ' table:number-rows-repeated="1048576"',
            ' table:number-columns-repeated="16384"',
            "x",
            "has a sheet of [0-9]+ cells",
        ),
        (' table:number-rows-repeated="100000"', "", "x" * 5000, "becomes [0-9]+ MiB of text"),
    ],
)
def test_repeats_of_an_open_document(more, of_cell, text, message, tmp_path):
    with pytest.raises(DagoraError, match=message):
        dagora.read_table(document(tmp_path / "t.ods", row("a") + row(text, more=more, of_cell=of_cell)))


@pytest.mark.full
def test_sizes_that_a_file_of_stata_or_spss_states(tmp_path):
    pyreadstat.write_dta(CODED, str(tmp_path / "t.dta"), version=15)
    raw = (tmp_path / "t.dta").read_bytes()
    place = raw.index(b"<N>") + 3
    (tmp_path / "t.dta").write_bytes(raw[:place] + struct.pack("<Q", 2**31 - 1) + raw[place + 8 :])
    with pytest.raises(
        DagoraError, match=r"states 2147483647 rows of 4 columns, more than it can hold|cannot be read"
    ):
        dagora.read_table(tmp_path / "t.dta")
    pyreadstat.write_sav(CODED, str(tmp_path / "t.sav"))
    raw = bytearray((tmp_path / "t.sav").read_bytes())
    raw[80:84] = struct.pack("<i", 10**6)
    place = raw.index(struct.pack("<4i", 7, 16, 8, 2)) + 24
    raw[place : place + 8] = struct.pack("<q", 10**6)
    (tmp_path / "t.sav").write_bytes(raw)
    with pytest.raises(DagoraError, match=r"states 1000000 rows of 4 columns, more than it can hold"):
        dagora.read_table(tmp_path / "t.sav")


def sequence(xdr):
    xdr.put(238).put(2).symbol("compact_intseq").put(2).symbol("base").put(2, 13, 1, 13).end()
    xdr.put(14, 3, struct.pack(">ddd", 1e15, 1, 1)).end()


DEEP = Xdr().put(*[19, 1] * 100_000).content
R_FILES = {
    "a sequence of 1e15 numbers": (frame_of_r(sequence), "states a sequence of 1000000000000000 numbers"),
    "a vector of 2**40 numbers": (Xdr().put(14, -1, 256, 0).content, "damaged, or cut short"),
    "a vector of a negative length": (Xdr().put(14, -5).content, "damaged"),
    "lists in lists": (DEEP, "nested too deeply"),
    "a reference to nothing": (Xdr().put(255 | 9 << 8).content, "damaged"),
    "compiled code": (Xdr().put(21).content, "holds more than data"),
    "text format": (b"A\n3\n262144\n", "not in R's binary format"),
    "version 9": (b"X\n" + struct.pack(">iii", 9, 0, 0), "version 9"),
    "a level that is not listed": (
        frame_of_r(lambda xdr: xdr.put(13 | 1 << 9, 1, 7).put(2 | 1 << 10).symbol("levels").texts("x").put(2 | 1 << 10).symbol("class").texts("factor").end()),
        "'a' has a level that is not listed",
    ),
    "a list as a column": (frame_of_r(lambda xdr: xdr.put(19, 1).put(13, 1, 5)), "'a' holds lists"),
}  # fmt: skip


@pytest.mark.parametrize("case", R_FILES)
def test_damaged_files_of_r(case, tmp_path):
    content, message = R_FILES[case]
    for packed in (content, gzip.compress(content)):
        (tmp_path / "t.rds").write_bytes(packed)
        with pytest.raises(DagoraError, match=f"^{tmp_path / 't.rds'}: .*{message}"):
            dagora.read_table(tmp_path / "t.rds")


def test_a_file_of_r_that_unpacks_to_much(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "UNPACKED_FREELY", 1 << 20)
    for pack in ("gzip", "bz2", "lzma"):
        (tmp_path / "t.rds").write_bytes(
            __import__(pack).compress(Xdr().put(24, 1 << 24).content + bytes(1 << 24))
        )
        with pytest.raises(DagoraError, match="unpacks to more than 1 MiB, far more than its size"):
            r_files.read_r_file(tmp_path / "t.rds", ReadingOptions())


@pytest.mark.parametrize(
    "ending", ["xlsx", "rds", *(pytest.param(e, marks=pytest.mark.full) for e in ("dta", "sav"))]
)
def test_any_damage_is_one_line(ending, tmp_path):
    whole = tmp_path / f"whole.{ending}"
    if ending == "xlsx":
        save_book(whole, data=SMALL)
    elif ending == "rds":
        write_rds(FRAME, whole)
        whole.write_bytes(gzip.decompress(whole.read_bytes()))
    else:
        write = pyreadstat.write_dta if ending == "dta" else pyreadstat.write_sav
        write(CODED, str(whole), variable_value_labels={"rank": LABELS["rank"]})
    content, random = whole.read_bytes(), np.random.default_rng(8)
    refused = 0
    for _ in range(20 if ending in ("dta", "sav") else 100):  # of the first two, each starts a process
        raw = bytearray(content)
        for place in random.integers(0, len(raw), random.integers(1, 6)):
            raw[place] = random.integers(0, 256)
        if random.random() < 0.3:
            raw = raw[: random.integers(1, len(raw))]
        file = tmp_path / f"t.{ending}"
        file.write_bytes(raw)
        try:
            dagora.inspect(file)
        except DagoraError as error:
            refused += 1
            assert "\n" not in str(error)
            assert str(error).startswith(str(file))
    assert refused
