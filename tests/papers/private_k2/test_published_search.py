"""The paper's logarithms: shares add up to the series, the series to ln x within its bound, the search to K2's."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dagora.learners.search.k2 import run_k2
from dagora.papers.private_k2 import published_logarithms, published_search
from dagora.papers.private_k2.central import k2_parents
from dagora.papers.private_k2.networks import draw_rows
from dagora.papers.private_k2.published_logarithms import FRACTION, TaylorSeries, split, splitting_circuit
from dagora.papers.private_k2.published_search import LogarithmPair, PublishedSearch, series_errors
from dagora.parties.crypto.encryption import paillier
from dagora.parties.crypto.garbling.circuit import evaluate_plain
from dagora.parties.vertical.counts import to_bits
from tests.parties.pairs import deal_seeds


@pytest.mark.parametrize("k", [1, 2, 5, 8, 16])
def test_the_error_is_within_its_bound_and_the_bound_is_not_idle(k: int) -> None:
    errors = series_errors(k, 200)
    rounding = 200 * 8 * 2.0**-FRACTION
    assert errors["product"] <= errors["bound"] + rounding
    assert errors["product"] > errors["bound"] * 0.05 or k == 16
    series = TaylorSeries(k)
    for epsilon in (-0.25, 0.1, 0.49):
        z = round(epsilon * 2**FRACTION)
        exact = sum((-1) ** (i - 1) * (z / 2**FRACTION) ** i / i for i in range(1, k + 1))
        shifted = series.shift(12345)
        assert sum(c * (z - 12345) ** i for i, c in enumerate(shifted)) / series.scale == pytest.approx(exact)


@pytest.mark.parametrize("bits", [3, 7, 10])
def test_the_circuit_splits_every_number(bits: int) -> None:
    rng = np.random.default_rng(bits)
    x = np.arange(1 << bits, dtype=np.uint64)
    own = rng.integers(0, 1 << bits, len(x), dtype=np.uint64)
    masks = [[int(v) << 9 for v in rng.integers(0, 1 << 62, len(x))] for _ in range(3)]
    inputs = [to_bits(own, bits), *(published_logarithms.big_bits(m, published_logarithms.MASK_BITS) for m in masks)]  # fmt: skip
    inputs.append(to_bits((x - own) & np.uint64((1 << bits) - 1), bits))
    out = evaluate_plain(splitting_circuit(bits), np.ascontiguousarray(np.concatenate(inputs)))
    found = [
        [value + mask for value, mask in zip(published_logarithms.signed_integers(part), some, strict=True)]
        for part, some in zip(out.reshape(3, -1, len(x)), masks, strict=True)
    ]
    assert found[2] == x.tolist()
    assert [(z, e) for z, e in zip(found[0], found[1], strict=True)] == [
        (split(int(v))[0], published_logarithms.times_log_two(split(int(v))[1])) for v in x
    ]
    for v in x.tolist()[1:]:
        z, e = split(v)
        assert (z / 2**FRACTION + 1) * 2**e == v
        assert -0.25 <= z / 2**FRACTION < 0.5


def test_a_search_by_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a small key, with dealt base transfers: scores within their bound, the graph of exact g."""
    deal_seeds(monkeypatch)
    generate = paillier.PaillierSecretKey.generate
    monkeypatch.setattr(paillier.PaillierSecretKey, "generate", lambda: generate(1024))
    rows = draw_rows("random", 60, 3)
    rows = replace(rows, bits=rows.bits[:, :3])
    order = [2, 0, 1]
    with LogarithmPair(8, 60) as pair:
        terms = pair.terms(np.array([0, 1, 2, 3, 61], dtype=np.uint64))
        expected = [0.0, -1.0, *(0.5 * math.log(x) + x * math.log(x) - x for x in (2, 3, 61))]
        assert terms == pytest.approx(expected, abs=61 / (2**8 * 9))
        search = PublishedSearch(rows, pair)
        found = run_k2(order, 1, search.choose)
        assert pair.logarithms == 5 + 3 * 2 + 6 * 3
    assert 0.0 < search.largest_error < 4 * 61 / (2**8 * 9)
    assert found == k2_parents(rows.bits, order, 1, "g")


def test_end_to_end(run: Callable, tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))
    monkeypatch.setattr(published_search, "QUICK", ())
    ran = run("reproduce", "private-k2/published", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    (table,) = json.loads(ran.out)["tables"]
    assert len(table["rows"]) == len(published_search.SERIES_TERMS) * len(published_search.SERIES_ROWS)
    assert (tmp_path / "private-k2-published.md").read_text().startswith("## private-k2/published")
