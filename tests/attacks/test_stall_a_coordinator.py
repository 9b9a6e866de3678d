"""A site that lies about its sums wants the coordinator to learn for ever, or to fail with a traceback."""

import time
from itertools import combinations_with_replacement

import numpy as np
import pytest

from dagora.api.effect_federated import effect_federated
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import DagoraError, ProtocolError
from dagora.data.partition import split_rows
from dagora.graph.dag import DAG
from dagora.parties.horizontal.session import serving
from dagora.parties.horizontal.session.fourth_sums import LIMBS
from dagora.parties.horizontal.session.row_sums import SUMMED
from tests.attacks.test_count_rows_behind_noise import BOOKS, SETTINGS
from tests.attacks.test_count_rows_behind_noise import sites as privacy_sites
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


CAUSE, OUTCOME = TABLE.schema.names[:2]
GRAPH = DAG(
    list(TABLE.schema.names),
    [(CAUSE, OUTCOME), (TABLE.schema.names[2], CAUSE), (TABLE.schema.names[2], OUTCOME)],
)
OF_FOUR = np.array([0 not in place for place in combinations_with_replacement(range(4), 4)])
# What a site of 160 rows does to products, of which one row adds at most `row` to each.
LIES = {
    "any numbers": lambda sums, row: np.random.default_rng(1).integers(-160 * row, 160 * row, sums.shape),
    "a narrow interval": lambda sums, row: -2 * sums * OF_FOUR[:, None],
    "a wide interval": lambda sums, row: 300 * sums * OF_FOUR[:, None],
    "another number of rows": lambda sums, row: np.eye(*sums.shape, dtype=np.int64) * -170 * row,
}


@pytest.mark.parametrize("lie", LIES)
def test_products_of_four_that_no_rows_have_end_the_run_with_a_line(monkeypatch, lie):
    """Before, an interval became far narrower or wider without a word."""

    def answer(rows, *arguments):
        sums = SUMMED["fourth"](rows, *arguments)
        if rows.n_rows == 160:
            parts = sums.reshape(-1, LIMBS)
            parts += LIES[lie](parts, 1 << 2 * rows.bits)
        return sums

    monkeypatch.setattr(serving, "SUMMED", {**SUMMED, "fourth": answer})
    with pytest.raises(ProtocolError, match="the sums are not those of rows"):
        effect_federated(SITES, CAUSE, OUTCOME, graph=GRAPH)


def test_a_site_with_more_rows_than_agreed_on_ends_a_run_for_an_effect(monkeypatch):
    def answer(rows, *arguments):
        sums = SUMMED["fourth"](rows, *arguments)
        if rows.n_rows == 160:
            sums *= 5
        return sums

    monkeypatch.setattr(serving, "SUMMED", {**SUMMED, "fourth": answer})
    with pytest.raises(DagoraError, match="rows together, and the plan allows"):
        effect_federated(SITES, CAUSE, OUTCOME, graph=GRAPH)


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
@pytest.mark.parametrize("lie", ["any numbers", "far too many rows", "none but fewer than none"])
def test_releases_that_no_rows_have_end_the_run_with_a_line(monkeypatch, kind, lie):
    """Before, a result was about 10¹² rows or more, and its interval as narrow."""
    part = serving.release_part
    draw = np.random.default_rng(1)

    def release(rows, terms, key):
        sums = part(rows, terms, key)
        if lie == "any numbers":
            sums = draw.integers(-(1 << 62), 1 << 62, len(sums))
        else:
            sums[0] = 1 << 60 if lie == "far too many rows" else -(1 << 50)
        return sums

    monkeypatch.setattr(serving, "release_part", release)
    asked = {"codebook": BOOKS[kind], "privacy": {"epsilon": 1}}
    with pytest.raises(ProtocolError, match="the sums are not those of rows"):
        learn_federated(privacy_sites(kind, 400), **asked, **SETTINGS[kind])
    with pytest.raises(ProtocolError, match="the sums are not those of rows"):
        effect_federated(privacy_sites(kind, 400), "b", "c", graph=DAG("abc", ["ab", "ac", "bc"]), **asked)
