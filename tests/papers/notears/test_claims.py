"""Sentences about figure 3, judged on cells made up for it."""

import pytest

from dagora.papers.cell import MeasuredCell
from dagora.papers.contrasts import Contrast
from dagora.papers.notears import claims
from dagora.papers.notears.fig3 import LINGAM, METHODS, label_of
from dagora.papers.tables import Mean


def distances(lead, *, line=claims.PENALISED, graph="ER2", noise="gaussian", d=(10, 20), spread=1.0):
    """Ten tables a size, on which a line is worse than NOTEARS by `lead` of the size, more or less `spread`."""
    cells = []
    for size in d:
        for seed in range(10):
            setting = {"graph": graph, "d": size, "n": 1000, "noise": noise, "seed": seed}
            apart = lead[size] + spread * (-1) ** seed
            for label, shd in ((claims.NOTEARS, 5.0 + seed), (line, 5.0 + seed + apart)):
                options = (METHODS | LINGAM)[label]
                cells.append(MeasuredCell({**setting, **options}, {"shd": shd}))
    return claims.Distances(cells, label_of)


def said(judge, found):
    return [verdict for _, _, verdict in judge(found)]


def test_competitive_fails_where_ges_is_clearly_worse() -> None:
    assert said(claims.competitive, distances({10: 5, 20: 0})) == [
        "fails: clearly worse at d = 10 (10 graphs)"
    ]
    assert said(claims.competitive, distances({10: 0, 20: -5})) == [
        "holds: clearly worse nowhere (10 graphs)"
    ]


def test_better_holds_fails_or_cannot_be_told() -> None:
    for lead, verdict in (((5, 9), "holds"), ((5, 0), "cannot be told"), ((0, -5), "fails")):
        found = distances(dict(zip((10, 20), lead, strict=True)), graph="SF4")
        assert [words.partition(" (")[0].partition(":")[0] for words in said(claims.better, found)] == [
            verdict
        ]


def test_a_lead_that_falls_clearly_does_not_grow() -> None:
    assert said(claims.growing, distances({10: 5, 20: 9})) == ["holds (10 graphs)"]
    assert said(claims.growing, distances({10: 9, 20: 5})) == ["fails: from d = 10 to 20 (10 graphs)"]
    assert said(claims.growing, distances({10: 5, 20: 5.1})) == [
        "cannot be told: from d = 10 to 20 (10 graphs)"
    ]


def test_one_noise_is_enough_to_fail() -> None:
    worse = said(claims.every_noise, distances({10: 5, 20: -5}, noise="gumbel"))
    assert worse == ["fails: ER2, 1000, gumbel, d = 20 (10 graphs)"]


def test_a_remark_in_general_may_hold_mostly() -> None:
    clear, wrong, unclear = (Contrast("", Mean(value, 1.0, 10)) for value in (-5.0, 5.0, 0.0))
    assert claims.in_most([clear] * 3) == "holds: clearly worse in 3 of 3 settings, clearly better in 0"
    assert claims.in_most([clear, clear, unclear]).startswith("holds mostly")
    assert claims.in_most([clear] * 9 + [wrong]).startswith("fails")
    assert claims.in_most([clear, unclear]).startswith("fails")
    assert said(claims.less_accurate, distances({10: 5, 20: 5}, line="ICA-LiNGAM")) == [
        "holds: clearly worse in 2 of 2 settings, clearly better in 0 (10 graphs)"
    ]


def test_leads_have_students_intervals() -> None:
    """Ten differences of 5 ± 1 have a standard error of √(10/9)/√10 = ⅓: 2.262 of them are 0.75."""
    table = claims.leads_table(distances({10: 5, 20: 5}), [claims.PENALISED])
    assert table.rows == (("ER2", 1000, "gaussian", claims.PENALISED, "5.0 ± 0.8", "5.0 ± 0.8"),)


@pytest.mark.parametrize("line", claims.LINGAMS)
def test_a_line_without_tables_is_left_out(line: str) -> None:
    assert claims.leads_table(distances({10: 5, 20: 5}), [line]).rows == ()
