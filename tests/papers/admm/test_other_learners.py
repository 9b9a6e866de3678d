"""Figure 5 at a small size: votes on graphs, judged as the paper judges them."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.papers.admm import contenders, linear, other_learners
from dagora.papers.admm.claims import FIGURE5, Curves, claims_table
from dagora.papers.admm.contenders import FGES_VOTING, PC_VOTING, PUBLISHED, evaluate_cell, simulate_cell
from dagora.papers.admm.curves import silent
from dagora.papers.admm.other_learners import LINES
from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size

CELL = {**linear.SETTINGS, "d": 4, "n": 12, "sites": 4, "seed": 1}


def test_the_full_size_is_that_of_the_paper_and_goes_on_from_the_quick_one() -> None:
    full = other_learners.fig5(Size(full=True)).cells
    assert {(c["d"], c["n"], c["sites"]) for c in full} == {(d, 3 * d, 10) for d in (10, 20, 50, 100)}
    assert len(full) == 4 * 30 * len(LINES)
    assert all(cell in full for cell in other_learners.fig5(Size()).cells)


def test_an_undirected_edge_is_true_where_the_truth_joins_the_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a — b, c → b and a cycle over c, d, a the truth has a → b and b → c."""
    share = np.zeros((4, 4))
    for tail, head in ["ab", "ba", "cb", "cd", "da", "ac"]:
        share["abcd".index(tail), "abcd".index(head)] = 0.6
    share[0, 3] = 0.5
    truth = DAG("abcd", [("a", "b"), ("b", "c")])
    made = Result(DAG("abcd"), "vote", "finished", "", raw_weights=share, dropped=(("a", "d"),))
    monkeypatch.setattr(contenders, "learn_cell", lambda *_: made)
    found = evaluate_cell({**CELL, "method": "vote", "model": "pc"}, simulate_cell(CELL).table, truth, Run())
    assert (found["shd"], found["tpr"], found["fdr"], found["edges"]) == (4, 0.5, 0.8, 5)
    assert "uncut_shd" not in found
    assert contenders.vote_graph(made) == CPDAG(
        "abcd", [("c", "b"), ("c", "d"), ("d", "a"), ("a", "c")], [("a", "b")]
    )


def test_three_rows_leave_no_graph_and_the_page_says_so() -> None:
    found = other_learners.measure({**CELL, **LINES[PC_VOTING]}, Run())
    assert (found["edges"], found["silent"], found["shd"]) == (0, 4, 4)
    told = silent([MeasuredCell({**CELL, **LINES[PC_VOTING]}, found)], LINES)
    assert told == (
        "PC-Voting, d = 4: with 3 rows each, no site could learn; such a site votes for no edge.",
    )


def test_the_claim_needs_both_votes_to_be_worse_in_both_numbers() -> None:
    def verdict(worst: float) -> str:
        numbers = {PUBLISHED: (5.0, 0.8), PC_VOTING: (9.0, 0.3), FGES_VOTING: (9.0, worst)}
        cells = [
            MeasuredCell(
                {**CELL, **LINES[label], "seed": seed}, {"shd": shd + 0.1 * seed, "tpr": tpr - 0.01 * seed}
            )
            for label, (shd, tpr) in numbers.items()
            for seed in range(30)
        ]
        ((_, _, here),) = claims_table(FIGURE5, Curves.of(cells, LINES, "", "d")).rows
        return str(here)

    assert verdict(0.3).startswith("holds")
    assert verdict(0.9).startswith("fails: TPR of ADMM, published − FGES-Voting")


@pytest.mark.slow
def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("QUICK_NODES", (4, 6)), ("FIG1_SITES", 3), ("ROWS_PER_NODE", 8), ("QUICK_RUNS", 1)
    ):  # fmt: skip
        monkeypatch.setattr(other_learners, name, value)
    ran = run("reproduce", "admm/fig5", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    table, claims = json.loads(ran.out)["tables"]
    assert [row[3] for row in table["rows"]] == [*LINES, *LINES]
    assert claims["rows"][0][2].startswith("cannot be told")
    assert (tmp_path / "admm-fig5-curves.svg").exists()
