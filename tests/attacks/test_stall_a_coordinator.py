"""A site that lies about its sums wants the coordinator to learn for ever, or to fail with a traceback."""

import time

import numpy as np
import pytest

from dagora.api.learn_federated import learn_federated
from dagora.base.errors import ProtocolError
from dagora.data.partition import split_rows
from dagora.parties.horizontal.session import serving
from dagora.parties.horizontal.session.row_sums import SUMMED
from tests.parties.horizontal.federations import simulated

TABLE = simulated(6, 400, 3)[1]
SITES = dict(zip(("east", "north", "west"), split_rows(TABLE, 3, sizes=[100, 140, 160]), strict=True))
KINDS = {"notears-sob": "basis", "notears": "moments", "ges": "moments"}


@pytest.mark.parametrize("method", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_sums_that_no_rows_have_end_the_run_with_a_line(monkeypatch, method, seed):
    kind = KINDS[method]
    draw = np.random.default_rng(seed)

    def answer(rows, *arguments):
        sums = SUMMED[kind](rows, *arguments)
        if rows.n_rows == 160:
            sums[1:] += draw.integers(-(1 << 44), 1 << 44, len(sums) - 1)
        return sums

    monkeypatch.setattr(serving, "SUMMED", {**SUMMED, kind: answer})
    begun = time.monotonic()
    with pytest.raises(ProtocolError, match="the sums are not those of rows"):
        learn_federated(SITES, method)
    assert time.monotonic() - begun < 10
