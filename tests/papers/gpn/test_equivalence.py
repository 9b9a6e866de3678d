"""Appendix A.1 at a small size: BGe is equal, GP nearly so on linear data, and tells curves."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dagora.learners.run import Run
from dagora.papers.gpn import equivalence


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("QUICK_TABLES", 6), ("LAMBDAS", (0.0, 1.5))):
        monkeypatch.setattr(equivalence, name, value)
    ran = run("reproduce", "gpn/equivalence", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    content = json.loads(ran.out)
    assert content["title"] == "gpn/equivalence: scores of equivalent graphs"
    (table,) = content["tables"]
    found = {(row[0], row[1]): dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
    for decay in (0.0, 1.5):
        assert found["BGe", decay]["median"] == pytest.approx(0, abs=1e-6)
        assert found["BGe", decay]["decided"] == 0
        bridged = [row for row in table["rows"] if row[:2] == ["GP, bridge", decay]]
        assert [row[-1] for row in bridged] == [1]
    assert abs(found["GP", 0.0]["median"]) < 1.5
    assert found["GP", 1.5]["median"] > found["GP", 0.0]["median"] + 0.5
    assert (tmp_path / "gpn-equivalence-difference.svg").is_file()


@pytest.mark.full
def test_bridge_sampling_and_quadrature_agree_on_a_chain() -> None:
    cell = next(iter(equivalence.cells_of(0)))
    by_points = equivalence.measure(cell, Run())
    assert equivalence.measure({**cell, "score": "GP, bridge"}, Run())["GP, bridge"] == pytest.approx(
        by_points["GP"], abs=0.1
    )
    assert by_points["BGe"] == pytest.approx(0, abs=1e-6)
