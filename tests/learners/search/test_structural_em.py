"""Structural EM returns a graph with a finite score on what was seen."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.graph.dag import DAG
from dagora.learners.search.structural_em import EmRound, best_round


def sparse_table(seed: int) -> pd.DataFrame:
    """Columns of both kinds that depend on each other, each seen in 10 to 40 % of 150 rows."""
    rng = np.random.default_rng(seed)
    rows = 150
    columns: dict[str, np.ndarray] = {}
    for i in range(int(rng.integers(3, 7))):
        base = np.zeros(rows)
        for values in columns.values():
            if rng.random() < 0.6:
                base = base + rng.normal() * 2 * (values if values.dtype == float else values - 1.0)
        if rng.random() < 0.5:
            columns[f"v{i}"] = base + rng.normal(size=rows) * 0.3
        else:
            levels = int(rng.integers(2, 5))
            cut = base + rng.normal(size=rows) * 0.3
            columns[f"v{i}"] = np.digitize(cut, np.quantile(cut, np.arange(1, levels) / levels))
    letters = np.array(list("pqrst"))
    frame = pd.DataFrame(
        {
            name: values if values.dtype == float else letters[values].astype(object)
            for name, values in columns.items()
        }
    )
    for name in frame:
        keep = rng.uniform(0.1, 0.4)
        frame.loc[rng.random(rows) > keep, name] = None if frame[name].dtype == object else np.nan
    return frame.dropna(how="all")


@pytest.mark.full
@pytest.mark.parametrize("seed", [29, 93])
def test_a_table_with_few_values_gets_a_graph_with_a_finite_score(seed: int) -> None:
    """On these tables completions suggest families that too few rows have seen together."""
    result = dagora.learn(sparse_table(seed), "hill-climb")
    assert result.score is not None
    assert math.isfinite(result.score)
    assert json.loads(result.to_json())["score"] == result.score


def test_the_best_round_counts_where_scores_can_be_compared_and_else_the_last() -> None:
    none, best, last = (DAG("ab", edges) for edges in ([], [("a", "b")], [("b", "a")]))
    tried = [EmRound(none, -5.0), EmRound(best, -3.0), EmRound(last, -4.0)]
    assert best_round(tried, comparable=True).graph == best
    assert best_round(tried, comparable=False).graph == last
