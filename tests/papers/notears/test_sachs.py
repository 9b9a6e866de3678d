"""Protein signalling: on a stand-in of a few proteins, and on the reference data where they are."""

import gzip
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.papers.notears import sachs


@pytest.fixture
def few_proteins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Raf → Mek → Erk on wide scales, and a protein that no consensus edge touches."""
    rng = np.random.default_rng(0)
    raf = 50 * rng.exponential(size=400)
    mek = 1.2 * raf + 5 * rng.exponential(size=400)
    erk = 1.5 * mek + 20 * rng.exponential(size=400)
    rows = zip(raf, mek, erk, rng.exponential(size=400), strict=True)
    lines = [
        "Raf,Mek,Erk,JNK,experiment",
        *(f"{a:.3f},{b:.3f},{c:.3f},{d:.3f},{i % 9 + 1}" for i, (a, b, c, d) in enumerate(rows)),
    ]
    folder = tmp_path / "data" / "sachs"
    folder.mkdir(parents=True)
    (folder / "sachs_9_experiments.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (folder / "sachs_consensus_edges.csv").write_text("from,to\nRaf,Mek\nMek,Erk\n")
    monkeypatch.setenv("DAGORA_DATA", str(folder.parent))
    return folder.parent


def test_columns_and_consensus(few_proteins: Path) -> None:
    raw, standardised = sachs.proteins("raw"), sachs.proteins("standardised")
    assert raw.names == standardised.names == ("Raf", "Mek", "Erk", "JNK")
    assert raw.n_rows == 400
    for i in range(4):
        assert standardised.values(i).mean() == pytest.approx(0, abs=1e-12)
        assert standardised.values(i).var() == pytest.approx(1)
        assert np.corrcoef(raw.values(i), standardised.values(i))[0, 1] == pytest.approx(1)
    truth = sachs.consensus(raw.names)
    assert truth.nodes == raw.names
    assert set(truth.edges) == {("Raf", "Mek"), ("Mek", "Erk")}


def test_end_to_end(run: Callable, few_proteins: Path, tmp_path: Path) -> None:
    ran = run("reproduce", "notears/sachs", "-o", tmp_path / "out", "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)["tables"][0]["rows"]
    assert [row[:2] for row in rows[:8]] == [
        [method, scale] for method in sachs.NAMES.values() for scale in ("raw", "standardised")
    ]
    ges_raw, ges_standardised = rows[4], rows[5]
    assert ges_raw[2:5] == ges_standardised[2:5]  # no scale changes it
    assert (rows[0][8], rows[1][8]) == (1.0, 0.5)  # variances rise along the edges; then all are equal
    # the paper's lines have an SHD in a column of their own, because it is not comparable
    assert [(row[2], row[3], row[4]) for row in rows[8:]] == [(16, None, 22), (17, None, 22)]
    assert all(row[4] is None and row[3] is not None for row in rows[:8])
    picture = ET.parse(tmp_path / "out" / "notears-sachs-graphs.svg").getroot()
    assert sum(e.tag.endswith("}svg") for e in picture) == 5
    assert "not comparable" in (tmp_path / "out" / "notears-sachs.md").read_text()


@pytest.mark.slow
def test_the_reference_data(
    run: Callable, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))
    table = sachs.proteins("raw")
    assert (table.n_rows, len(table.names), len(sachs.consensus(table.names).edges)) == (7466, 11, 17)
    ran = run("reproduce", "notears/sachs", "-o", tmp_path, "--json", "--quiet")
    assert ran.code == 0
    rows = json.loads(ran.out)["tables"][0]["rows"]
    for row in rows[:8]:
        edges, shd, tpr, reversed_ = row[2], row[3], row[5], row[6]
        correct = round(17 * tpr)
        # every edge of either graph is judged once: extra + missing + reversed
        assert shd == (edges - correct - reversed_) + (17 - correct - reversed_) + reversed_


def test_drawings_side_by_side() -> None:
    one = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50" viewBox="0 0 100 50"><g/></svg>'
    two = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="80"><g/></svg>\n'
    both = ET.fromstring(sachs.side_by_side([one, two]))
    assert (both.get("width"), both.get("height")) == ("142", "80")
    inner = [e for e in both if e.tag.endswith("}svg")]
    assert [(e.get("x"), e.get("width")) for e in inner] == [("0", "100"), ("112", "30")]
    with pytest.raises(ValueError, match="size"):
        sachs.side_by_side(["<svg/>"])
