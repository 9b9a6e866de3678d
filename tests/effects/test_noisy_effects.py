"""Effects from a release with noise: near those of the rows where noise is small, and honest where it is not."""

import numpy as np
import pytest

import dagora
from dagora.api.effect_federated import effect_federated, read_question
from dagora.base.errors import DataError, OptionError
from dagora.data.partition import split_rows
from dagora.graph.cpdag import CPDAG
from dagora.graph.knowledge import Knowledge
from dagora.parties.horizontal.methods_over_sites import privacy_terms
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import code_rows, follow_codebook
from dagora.parties.horizontal.session.row_sums import release_part
from tests.effects.test_over_sites import MEASURED, PATIENTS, patients

WORDS = Codebook(
    (
        ColumnCoding("age", levels=("0", "1", "2")),
        *(ColumnCoding(name, levels=("0", "1")) for name in ("severity", "drug", "death")),
    )
)
NUMBERS = Codebook(
    tuple(
        ColumnCoding(name, low=-4.0 * s, high=4.0 * s)
        for name, s in zip("zwxy", (1, 1, 1.3, 1.5), strict=True)
    )
)


def sites(table):
    return {f"site{k}": part for k, part in enumerate(split_rows(table, 3, seed=1))}


def plain(rows, seed):
    """Linear, with noise that is the same in all rows; the effect of x on y is one half."""
    rng = np.random.default_rng(seed)
    z, w = rng.standard_normal((2, rows))
    x = 0.7 * z + rng.standard_normal(rows)
    y = 0.5 * x - 0.7 * z + 0.5 * w + 0.9 * rng.standard_normal(rows)
    return dagora.Table.from_numpy(np.column_stack([z, w, x, y]), names=["z", "w", "x", "y"])


CASES = {
    "discrete": (patients, PATIENTS, WORDS, "drug", "death", -0.1),
    "continuous": (plain, MEASURED, NUMBERS, "x", "y", 0.5),
}


@pytest.mark.parametrize("kind", CASES)
def test_with_little_noise_the_effect_is_that_of_the_rows(kind):
    make, graph, book, x, y, _ = CASES[kind]
    table, epsilon = make(20_000, 1), 1 if kind == "discrete" else 50
    found = effect_federated(sites(table), x, y, graph=graph, codebook=book, privacy={"epsilon": epsilon})
    pooled = dagora.effect(table, x, y, graph=graph)
    width = pooled.interval[1] - pooled.interval[0]
    assert found.adjustment == pooled.adjustment
    assert (found.estimate, *found.interval) == pytest.approx(
        (pooled.estimate, *pooled.interval), abs=0.4 * width
    )
    assert found.rows == pytest.approx(20_000, abs=200)  # noise of about 28
    assert "the interval includes the noise for privacy" in found.notes
    assert any("differential privacy of one row" in note for note in found.notes)


def test_a_class_is_answered_from_one_release():
    found = effect_federated(
        sites(patients(6000)),
        "drug",
        "death",
        graph=CPDAG.from_dag(PATIENTS),
        codebook=WORDS,
        privacy="epsilon=1",
    )
    pooled = dagora.effect(patients(6000), "drug", "death", graph=CPDAG.from_dag(PATIENTS))
    assert [one.edges for one in found.members] == [one.edges for one in pooled.members]
    assert found.range == pytest.approx(pooled.range, abs=0.05)


def test_given_a_level():
    table = patients(30_000)
    question = {"x": "drug", "y": "death", "given": {"severity": "1"}, "graph": PATIENTS}
    found = effect_federated(sites(table), **question, codebook=WORDS, privacy={"epsilon": 1})
    assert found.interval == pytest.approx(dagora.effect(table, **question).interval, abs=0.03)


@pytest.mark.parametrize("kind", CASES)
def test_noise_that_hides_the_answer_is_refused(kind):
    make, graph, book, x, y, _ = CASES[kind]
    with pytest.raises(DataError, match="noise"):
        effect_federated(sites(make(60, 1)), x, y, graph=graph, codebook=book, privacy={"epsilon": 0.1})


def test_strata_that_noise_hides_are_refused():
    """64 strata of 1000 rows: the interval held the truth in 15 % of such tables."""
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, (1000, 6))
    x = rng.random(1000) < 0.2 + 0.6 * z.mean(axis=1)
    y = rng.random(1000) < 0.1 + 0.5 * z.mean(axis=1) + 0.2 * x
    names = [*(f"z{k}" for k in range(6)), "x", "y"]
    table = dagora.Table.from_numpy(np.column_stack([z, x, y]).astype(int), names=names)
    book = Codebook(tuple(ColumnCoding(name, levels=("0", "1")) for name in names))
    graph = dagora.DAG(names, [*((one, other) for one in names[:6] for other in "xy"), ("x", "y")])
    with pytest.raises(DataError, match="the noise hides the counts in most strata of z0, z1"):
        effect_federated(sites(table), "x", "y", graph=graph, codebook=book, privacy={"epsilon": 1})


def test_rows_that_are_shrunk_are_told():
    """Columns far from the middle of their ranges are long, and shrinking them moves the slopes."""
    table = plain(3000, 1)
    book = Codebook(tuple(ColumnCoding(name, low=-12.0, high=5.0) for name in "zwxy"))
    question = {"x": "x", "y": "y", "graph": MEASURED, "privacy": {"epsilon": 50}}
    away, near = (effect_federated(sites(table), codebook=one, **question) for one in (book, NUMBERS))
    assert any(note.startswith("many rows are longer than the row bound") for note in away.support.notes)
    assert near.support.notes == ()
    assert any("shrunk: the interval leaves that out" in text for text in near.assumptions)


def test_a_codebook_from_rows_is_told_and_noise_needs_secure_sums():
    table = patients(3000)
    found = effect_federated(sites(table), "drug", "death", graph=PATIENTS, privacy={"epsilon": 1})
    assert any("which the promise of privacy does not cover" in note for note in found.notes)
    with pytest.raises(OptionError, match="privacy goes with secure sums"):
        effect_federated(sites(table), "drug", "death", graph=PATIENTS, privacy={"epsilon": 1}, secure=False)


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "rows", "epsilon"),
    [("discrete", 500, 1), ("discrete", 2000, 1), ("discrete", 2000, 0.2), ("continuous", 5000, 1)],
)
def test_intervals_with_noise_hold_the_truth(kind, rows, epsilon):
    make, graph, book, x, y, truth = CASES[kind]
    question = read_question(graph, book, x, y, None, None, None, Knowledge())
    terms = privacy_terms({"epsilon": epsilon}, question.codebook.schema, 3, joint=True)
    held = 0
    for seed in range(500):
        coded = code_rows(follow_codebook(make(rows, seed), question.codebook), question.codebook, 1 << 30)
        none = type(coded)(coded.schema, coded.codes[:, :0], coded.numbers[:, :0], coded.bits)
        keys = np.random.default_rng(seed).bytes(96)
        parts = (coded, none, none)
        sums = sum(release_part(part, terms, keys[32 * k : 32 * k + 32]) for k, part in enumerate(parts))
        found = question.answer_from_release(terms, sums, (), seed)
        held += found.interval[0] <= truth <= found.interval[1]
    assert 0.92 < held / 500 < 0.99, held / 500
