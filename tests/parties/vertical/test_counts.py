import numpy as np
import pytest

from dagora.parties.crypto.garbling.circuit import evaluate_plain
from dagora.parties.vertical.counts import counts_from_moments, from_bits, known_scores, to_bits
from dagora.parties.vertical.score_circuits import family_counts
from dagora.parties.vertical.widths import BitWidths
from tests.parties.vertical.central import moments_of, naive_score


@pytest.mark.parametrize("members", [1, 2, 3, 4])
def test_counts_are_those_of_the_rows(members: int) -> None:
    rng = np.random.default_rng(members)
    data = rng.integers(0, 2, (50, members))
    moments = moments_of(data, [range(members)])
    counts = counts_from_moments(moments, 6)[:, 0].tolist()
    patterns = (data << np.arange(members)).sum(axis=1)
    expected = np.bincount(patterns, minlength=1 << members)
    half = 1 << (members - 1)
    assert counts == [*expected, *(expected[:half] + expected[half:] + 1)]
    circuit = family_counts(6, (2,) * members)
    assert (
        from_bits(
            evaluate_plain(circuit, to_bits(moments, 6).swapaxes(0, 1).reshape(-1, 1)).reshape(-1, 6).T
        ).tolist()
        == counts
    )
    assert circuit.n_and <= 5 * (members * half + half)


def test_shares_of_moments_give_shares_of_counts() -> None:
    rng = np.random.default_rng(0)
    moments = moments_of(rng.integers(0, 2, (900, 5)), [(0, 1, 2), (4, 2, 3)])
    mask = np.uint64(1023)
    a = rng.integers(0, 1024, moments.shape, dtype=np.uint64)
    b = (moments - a) & mask
    total = counts_from_moments(a, 10) + counts_from_moments(b, 10, plus=False)
    assert np.array_equal(total & mask, counts_from_moments(moments, 10))


def in_nats(widths: BitWidths, scores: np.ndarray) -> np.ndarray:
    """Scores as real numbers, from their words in two's complement."""
    top = np.uint64(64 - widths.width)
    signed = (scores << top).view(np.int64) >> top.astype(np.int64)
    return signed.astype(np.float64) * 2.0**-widths.fraction


@pytest.mark.parametrize("score", ["f", "g"])
@pytest.mark.parametrize("rows", [1, 9, 700, 3000, 10**6])
@pytest.mark.parametrize("parents", [0, 1, 3])
def test_scores_are_within_the_bound(rows: int, parents: int, score: str) -> None:
    rng = np.random.default_rng(rows + parents)
    widths = BitWidths(rows, 3, score)
    cells = 2 << parents
    spread = [
        rng.dirichlet(np.full(cells, concentration)) for concentration in (0.03, 0.3, 1, 10) for _ in range(9)
    ]
    counts = np.array([rng.multinomial(rows, share) for share in spread]).T
    half = cells // 2
    words = np.concatenate([counts, counts[:half] + counts[half:] + 1]).astype(np.uint64)
    got = in_nats(widths, known_scores(widths, words))
    exact = np.array([naive_score(column, score) for column in counts.T])
    assert np.abs(got - exact).max() <= 3 * half * widths.error + 1e-14 * rows * 20
