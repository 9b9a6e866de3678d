"""Whatever a coordinator sends, a site computes a finite answer or refuses with one line."""

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.learners.tasks import TASKS
from tests.parties.horizontal.learners.hostile import SHOWN_BY_CONSENT, D, assault, honest, site


@pytest.mark.parametrize("task", SHOWN_BY_CONSENT)
def test_odd_questions_are_refused_and_nothing_breaks(task):
    told = assault(task, 300, seed=5)
    assert told["refused"] > 150
    assert sum(told.values()) == 300


@pytest.mark.parametrize(
    "task", ["own-squares", "admm-step", "admm-mlp-step", "local-weights", "local-graph"]
)
def test_honest_questions_are_answered(task):
    answer = TASKS[task](site(), honest(task))
    assert all(np.isfinite(value).all() for value in answer.values())


FREE = ~np.eye(D, dtype=bool)
WRONG = [
    ("own-squares", {"unit": np.ones(D)}, "the fields must be none"),
    ("admm-step", {"rho": 0.0}, "'rho' must be a finite number above 0"),
    ("admm-step", {"rho": -1.0}, "'rho' must be"),
    ("admm-step", {"rho": np.inf}, "'rho' must be"),
    ("admm-step", {"rho": 1}, "'rho' must be"),
    (
        "admm-step",
        {"weights": np.zeros((D, D + 1))},
        r"'weights' must be an array of float64 of shape \(3, 3\)",
    ),
    ("admm-step", {"weights": np.zeros((D, D), dtype="f4")}, "'weights' must be an array of float64"),
    ("admm-step", {"weights": np.full((D, D), np.nan)}, "'weights' must be finite"),
    ("admm-step", {"weights": np.full((D, D), 1e308), "unit": np.full(D, 1e-3)}, "too large to compute with"),
    ("admm-step", {"mean": np.full(D, np.inf)}, "'mean' must be finite"),
    ("admm-step", {"unit": np.array([1.0, 0.0, 1.0])}, "every 'unit' must be above 0"),
    ("admm-step", {"unit": np.full(D, 1e-300)}, "units are too small"),
    ("admm-step", {"n": 8}, "'n' must be a whole number from 9 to"),
    ("admm-step", {"n": 10**4000}, "'n' must be a whole number from 9 to"),
    ("admm-step", {"centre": "middle"}, "'centre' must be one of global, local, none"),
    ("admm-step", {"more": 1}, "the fields must be"),
    ("admm-mlp-step", {"published": 2}, "'published' must be a whole number from 0 to 1"),
    ("admm-mlp-step", {"published": True}, "'published' must be a whole number from 0 to 1"),
    ("admm-mlp-step", {"hidden": 0}, "'hidden' must be a whole number from 1 to 1000"),
    ("admm-mlp-step", {"hidden": 2**70}, "'hidden' must be a whole number from 1 to 1000"),
    ("admm-mlp-step", {"hidden": 3}, "'weights' must be an array of float64 of shape"),
    ("admm-mlp-step", {"free": np.ones((D, D), dtype=bool)}, "no column may be its own input"),
    ("admm-mlp-step", {"free": FREE.astype(float)}, "'free' must be an array of booleans"),
    ("local-weights", {"seed": -1}, "'seed' must be a whole number from 0"),
    ("local-weights", {"seed": 2**4000}, "'seed' must be a whole number from 0"),
    ("local-weights", {"seconds": np.nan}, "'seconds' must be a finite number"),
    ("local-weights", {"lambda1": -0.1}, "'lambda1' must be a finite number"),
    ("local-weights", {"model": "cubic"}, "'model' must be one of linear, mlp"),
    ("local-weights", {"knowledge": {"required": [["a", "z"]]}}, "'knowledge' is not valid for the columns"),
    ("local-weights", {"knowledge": {"max_parents": 1}}, "'knowledge' is not valid for the columns"),
    ("local-weights", {"knowledge": "all"}, "'knowledge' must be a dict"),
    ("local-weights", {"model": "pc"}, "'model' must be one of linear, mlp"),
    ("local-graph", {"model": "linear"}, "'model' must be a method that learns a graph"),
    ("local-graph", {"alpha": 0.0}, "'alpha' must be a finite number above 0"),
    ("local-graph", {"alpha": 1.0}, "'alpha' must be a finite number"),
    ("local-graph", {"lambda1": 0.1}, "the fields must be alpha, knowledge, model, seconds, seed"),
    ("local-graph", {"knowledge": {"required": [["a", "z"]]}}, "'knowledge' is not valid for the columns"),
    ("local-graph", {"model": "ges"}, "'knowledge' is not for the model ges"),
]


@pytest.mark.parametrize(("task", "change", "reason"), WRONG)
def test_the_line_says_what_is_wrong(task, change, reason):
    with pytest.raises(ProtocolError, match=f"^refused: in the question '{task}', .*{reason}"):
        TASKS[task](site(), {**honest(task), **change})
