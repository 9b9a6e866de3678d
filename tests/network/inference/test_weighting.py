"""Weighted rows: evidence counts by its likelihood, what was set does not."""

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.network.inference.problem import NodeEvidence
from dagora.network.inference.weighting import WeightedRows, draw_forward_weighted, draw_weighted_rows
from dagora.network.networks import DiscreteNetwork

# z → x → y and z → y: z is behind both.
TABLES = {
    "z": np.array([0.5, 0.5]),
    "x": np.array([[0.9, 0.1], [0.2, 0.8]]),
    "y": np.array([[[0.9, 0.1], [0.7, 0.3]], [[0.4, 0.6], [0.1, 0.9]]]),
}
CONFOUNDED = DiscreteNetwork(
    DAG("zxy", [("z", "x"), ("z", "y"), ("x", "y")]), dict.fromkeys("zxy", ("n", "y")), TABLES
).model


@pytest.mark.parametrize("draw", [draw_forward_weighted, draw_weighted_rows])
def test_what_was_set_does_not_weigh_its_causes(draw) -> None:
    seed = np.random.default_rng(1) if draw is draw_forward_weighted else 1

    def chance(known: NodeEvidence) -> float:
        rows = draw(CONFOUNDED, ["y"], known, 8000, seed)
        return rows.mean_and_error((rows.columns["y"] == 1).astype(float))[0]

    assert chance(NodeEvidence(do={"x": 1.0})) == pytest.approx((0.3 + 0.9) / 2, abs=0.03)
    assert chance(NodeEvidence({"x": 1.0})) == pytest.approx((0.1 * 0.3 + 0.8 * 0.9) / 0.9, abs=0.03)


def test_the_error_and_the_effective_number_of_rows() -> None:
    rows = WeightedRows({}, np.full(400, 1 / 400))
    values = np.repeat([0.0, 1.0], 200)
    assert rows.effective == pytest.approx(400)
    assert rows.mean_and_error(values) == pytest.approx((0.5, 0.5 / 20))
    assert WeightedRows({}, np.array([1.0, 0.0])).effective == 1.0
