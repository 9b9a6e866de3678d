"""Two hundred random tables through whole sessions: both parties real, in garbled circuits, on shares of moments.

Only the 128 base transfers are dealt, which take a second on the curve and are tested with it elsewhere.
"""

import numpy as np
import pytest

from dagora.parties.vertical.agreement import TermsProposal
from tests.parties.pairs import deal_seeds
from tests.parties.vertical.central import central_edges
from tests.parties.vertical.owners import edges, learn, owners, pair, written
from tests.parties.vertical.test_k2_schedule import random_data

TABLES = 12
ROWS = (2, 3, 7, 15, 16, 31, 50, 63, 64, 120)


@pytest.mark.full
@pytest.mark.parametrize("mode", ["hidden", "adaptive"])
@pytest.mark.parametrize("part", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 9))])
def test_the_structure_of_random_tables_is_the_central_one(part, mode, monkeypatch):
    deal_seeds(monkeypatch)
    rng = np.random.default_rng([part, len(mode)])
    found = ties = 0
    for _ in range(TABLES):
        columns = int(rng.integers(2, 6))
        n_host, limit = int(rng.integers(1, columns)), int(rng.integers(1, 4))
        data = random_data(rng, int(rng.choice(ROWS)), columns)
        order = rng.permutation(columns).tolist()
        proposal = TermsProposal(order=written(order), max_parents=limit, mode=mode)
        host, guest = learn(pair(), owners(data, n_host, seed=int(rng.integers(1 << 30))), proposal)
        expected = central_edges(data, order, limit)
        assert edges(host) == edges(guest) == expected, (data.tolist(), n_host, order, limit)
        assert host.outcome.stats["ands"] == guest.outcome.stats["ands"] > 0
        found += len(expected)
        ties += len(np.unique(data, axis=1).T) < columns
    assert found > TABLES // 2
    assert ties > 0  # equal columns: the first in the order must win on both sides
