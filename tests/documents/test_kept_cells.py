"""Every number of a page whose cells are kept is what these cells give."""

from pathlib import Path

import pytest

from dagora.base.errors import DataError
from dagora.learners.run import Run
from dagora.papers.cell_file import CellFile
from dagora.papers.experiment import Size
from dagora.papers.measuring import kept_cells, measure_cells
from dagora.papers.registry import ITEMS
from dagora.papers.reports import page

FOLDER = Path(__file__).parents[2] / "docs" / "reproductions"
KEPT = {
    item.name: item for item in ITEMS if (FOLDER / f"{item.name.replace('/', '-')}.cells.jsonl.gz").exists()
}
BESIDE_PUBLISHED = {
    "gpn/fig1",
    "gpn/fig1-n15",
    "gpn/fig1-others",
    "gpn/table1",
    "gpn/table1-others",
}  # their pages have numbers of the authors' files, which are not ours


def test_a_page_needs_no_reference_data(monkeypatch, tmp_path):
    """Cells are kept here; only to measure them anew, or to stand beside authors' files, takes others'."""
    monkeypatch.setenv("DAGORA_DATA", str(tmp_path))
    for name in set(KEPT) - BESIDE_PUBLISHED:
        KEPT[name].load()(Size(full=True))


def test_measuring_says_first_which_reference_data_are_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("DAGORA_DATA", str(tmp_path))
    experiment = KEPT["rbnets/table4"].load()(Size())
    with pytest.raises(DataError, match="the reference data are needed: there is no file"):
        measure_cells(experiment, CellFile(tmp_path / "cells.jsonl"), Run())


def test_cells_are_kept():
    assert {f"admm/fig{k}" for k in (1, 2, 3, 5)} | {"notears/fig3", "notears/table1"} <= set(KEPT)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_page_is_what_its_cells_give(name, request):
    item, stem = KEPT[name], name.replace("/", "-")
    if name in BESIDE_PUBLISHED:
        request.getfixturevalue("data_dir")
    written = (FOLDER / f"{stem}.md").read_text(encoding="utf-8")
    full = written.splitlines()[2].endswith(" --full`")
    experiment = item.load()(Size(full=full))
    harvest = kept_cells(experiment, CellFile(FOLDER / f"{stem}.cells.jsonl"))
    report = experiment.report(harvest.measured)
    missing = "" if harvest.complete else f"{len(harvest.measured)} of {harvest.total} cells are measured"
    expected = page(
        report,
        command=f"dagora reproduce {name}" + " --full" * full,
        stem=stem,
        size=item.size(full=full),
        missing=missing,
    )
    assert written == expected
    for table in report.tables:
        file = f"{stem}.csv" if len(report.tables) == 1 else f"{stem}-{table.name}.csv"
        assert (FOLDER / file).read_text(encoding="utf-8") == table.to_csv()
