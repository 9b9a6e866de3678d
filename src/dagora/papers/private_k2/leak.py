"""The bits that adaptive mode reveals beyond the graph.

In adaptive mode both owners see which candidate wins each step of K2. Given the graph, that is the sequence
in which each variable took its parents, and nothing else: where a search ended follows from the graph. With
k_i parents of variable i the sequences T are one of ∏ k_i!, so, whatever the data,

    H(T | graph) ≤ Σ_i log₂ k_i!                                                   (“at most”).

An owner who knows the network that the rows come from expects some sequences more than others, and learns
less. Over samples of that network it learns on average no more than

    Σ_i H(sequence of i | parents of i),                                         (“to one who knows”)

estimated by the shares of sequences among the samples in which i has these parents (which is too low where
few samples agree in the parents). For comparison, the graph itself is one of ∏ Σ_{j ≤ u} C(c_i, j) that K2
can return, with c_i candidates of variable i and the limit u.

What the sequence tells about are differences of scores: which of the parents had the highest score alone,
which of the others the highest beside it. Let D be those differences. T is a function of them, so

    I(D; T | graph) = H(T | graph) − H(T | D, graph) = H(T | graph):

an entropy of sequences is also how many bits they tell about the score differences. How much of the
posterior distribution of D that takes away is the share of its variance that is left once T is known,

    E[tr Var(D_i | sequence of i)] / tr Var(D_i),                                          (“left”)

D_i being the scores of variable i with each of its parents alone, less their mean, over samples in which i
has these parents. Nothing told is 100 %; the sign of a normal difference with mean 0 leaves 1 − 2/π = 36 %.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.private_k2.central import Bits, family_score, k2_parents
from dagora.papers.private_k2.networks import NetworkRows, draw_rows, random_network, sample_rows
from dagora.papers.reference_data import reference_file
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable, group, mean_of

KNOWN = ("asia", "insurance", "alarm")
RANDOM = {f"random {number}": number for number in (1, 2, 3)}  # by the seed of the network
NETWORKS = (*KNOWN, *RANDOM)
# The paper has no experiment: limit, rows and runs are by hand.
LIMIT = 3
QUICK_ROWS, FULL_ROWS = (100, 1000), (100, 1000, 10_000)
QUICK_RUNS, FULL_RUNS = 10, 100

NOTES = paragraphs("""
K2 in an order that the true graph permits, at most 3 parents, score f, each variable's levels cut in the
middle; in the clear, as adaptive mode takes the same steps. The paper names this leak (section 3) and does
not measure it.

“at most”: log₂ of the number of sequences in which the variables can have taken the parents of the graph, Σ_i
log₂ k_i!, mean ± standard error over samples. Transcripts of adaptive mode tell no more than that on average
beyond the graph, whatever the other knows; one that was unlikely tells more. A variable with one parent or
none adds nothing, one with two at most 1 bit on average, one with three at most 2.58.

“to one who knows”: the conditional entropy of the sequences given the parents, variable by variable, over
samples of the same network: what the sequences tell on average to somebody who knows the network that the
rows were drawn from, but not the rows. It is estimated from shares, and too low where few samples agree in a
variable's parents: “seen again” is the share of parent sets (of two or more) that another sample has as well.
The sequence is a function of differences of scores, so the sequences tell as many bits about these
differences: their mutual information, given the parents, variable by variable.

“variance left”: how much of the variance of the score differences among a variable's parents (each alone)
remains once the sequence is known, to the same reader; 100 % where it tells nothing, 36 % where it tells the
sign of a normal difference with mean 0. Mean over parent sets that three or more samples have, each with the
weight of its samples; it is an estimate, and may come out a little above 100 %.

“random” are networks of 20 binary variables with up to 3 parents each and uniform probabilities.

“graph”: log₂ of the number of graphs that K2 can return in this order, for scale. Hidden mode tells the graph
and 0 bits more.
""")


def leak(size: Size) -> Experiment:
    """Make the experiment, from cheap to expensive."""
    for network in [name for name in NETWORKS if name not in RANDOM]:
        reference_file(f"networks/{network}.bif.gz")
    cells: list[Parameters] = [
        {"network": network, "n": n, "limit": LIMIT, "seed": seed}
        for n in (FULL_ROWS if size.full else QUICK_ROWS)
        for network in NETWORKS
        for seed in size.seeds(QUICK_RUNS, FULL_RUNS)
    ]
    return Experiment("private-k2/leak", tuple(cells), measure, report, revision=2)


def rows_of(network: str, n: int, seed: int) -> NetworkRows:
    """Rows of a known network, or of one of the random ones."""
    if network in RANDOM:
        return sample_rows(random_network(RANDOM[network]), n, seed)
    return draw_rows(network, n, seed)


def measure(parameters: Parameters, run: Run) -> Numbers:  # noqa: ARG001 - seconds at most
    """One sample: every variable's parents in the sequence in which K2 took them."""
    rows = rows_of(str(parameters["network"]), int(parameters["n"]), int(parameters["seed"]))
    limit = int(parameters["limit"])
    sequences = k2_parents(rows.bits, rows.order, limit, "f")
    return {
        "sequences": sequences,
        "alone": scores_alone(rows.bits, sequences),
        "edges": sum(map(len, sequences)),
        "several": sum(len(parents) > 1 for parents in sequences),
        "most_bits": most_bits(sequences),
        "graph_bits": graph_bits(len(sequences), limit),
    }


def scores_alone(bits: Bits, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
    """For variables of two and more parents: the score with each of them alone, sorted by parent.

    >>> bits = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]] * 5, dtype=np.uint8)
    >>> [len(scores) for scores in scores_alone(bits, [[], [0], [1, 0]])]
    [0, 0, 2]
    """
    columns = bits.T.astype(np.int64)
    return [
        [round(family_score(columns[p] | columns[child] << 1, 2, "f"), 4) for p in sorted(parents)]
        if len(parents) > 1
        else []
        for child, parents in enumerate(sequences)
    ]


def variance_left(
    samples: Sequence[Sequence[Sequence[int]]], alone: Sequence[Sequence[Sequence[float]]]
) -> float | None:
    """The share of the variance of score differences that is left once the sequence is known.

    >>> samples = [[[0, 1]], [[0, 1]], [[1, 0]], [[1, 0]]]
    >>> variance_left(samples, [[[4.0, 0.0]], [[4.0, 0.0]], [[0.0, 4.0]], [[0.0, 4.0]]])
    0.0
    """
    groups: dict[tuple[int, frozenset[int]], list[tuple[tuple[int, ...], NDArray[np.float64]]]]
    groups = defaultdict(list)
    for sequences, scores in zip(samples, alone, strict=True):
        for child, parents in enumerate(sequences):
            if len(parents) > 1:
                each = np.array(scores[child])
                groups[child, frozenset(parents)].append((tuple(parents), each - each.mean()))
    shares, weights = [], []
    for found in groups.values():
        kinds = {sequence for sequence, _ in found}
        values = np.array([difference for _, difference in found])
        total = float(((values - values.mean(axis=0)) ** 2).sum())
        if len(found) < 3 or len(found) == len(kinds) or total == 0.0:
            continue
        within = 0.0
        for kind in kinds:
            some = np.array([difference for sequence, difference in found if sequence == kind])
            within += float(((some - some.mean(axis=0)) ** 2).sum())
        shares.append(within / (len(found) - len(kinds)) / (total / (len(found) - 1)))
        weights.append(len(found))
    return float(np.average(shares, weights=weights)) if shares else None


def most_bits(sequences: Iterable[Sequence[int]]) -> float:
    """Σ_i log₂ k_i!.

    >>> most_bits([[], [0], [1, 0], [0, 1, 2]]) == math.log2(1 * 1 * 2 * 6)
    True
    """
    return sum(math.log2(math.factorial(len(parents))) for parents in sequences)


def graph_bits(variables: int, limit: int) -> float:
    """log₂ of the number of graphs that K2 can return on so many variables in one order.

    >>> graph_bits(3, 1) == math.log2(1 * 2 * 3)
    True
    """
    return sum(
        math.log2(sum(math.comb(before, parents) for parents in range(limit + 1)))
        for before in range(variables)
    )


def conditional_entropy(samples: Sequence[Sequence[Sequence[int]]]) -> float:
    """Σ_i H(sequence of i | parents of i) in bits, over samples of all variables' sequences.

    >>> conditional_entropy([[[], [], [0, 1]], [[], [], [1, 0]]])
    1.0
    """
    counts: dict[tuple[int, frozenset[int]], Counter[tuple[int, ...]]] = defaultdict(Counter)
    for sequences in samples:
        for child, parents in enumerate(sequences):
            counts[child, frozenset(parents)][tuple(parents)] += 1
    bits = 0.0
    for found in counts.values():
        total = found.total()
        bits += sum(times * math.log2(total / times) for times in found.values())
    return bits / len(samples)


def repeat_share(samples: Sequence[Sequence[Sequence[int]]]) -> float | None:
    """The share of sets of two or more parents that another sample has too; None if there is no such set.

    >>> repeat_share([[[], [], [0, 1]], [[], [], [1, 0]], [[], [], [0]]])
    1.0
    """
    sets = [
        (child, frozenset(parents))
        for sequences in samples
        for child, parents in enumerate(sequences)
        if len(parents) > 1
    ]
    times = Counter(sets)
    return sum(times[each] > 1 for each in sets) / len(sets) if sets else None


def report(measured: Sequence[MeasuredCell]) -> Report:
    """A row per network and number of rows."""
    rows: list[tuple[Entry, ...]] = []
    for (network, n), cells in sorted(
        group(measured, ("network", "n")).items(),
        key=lambda item: (NETWORKS.index(str(item[0][0])), item[0][1]),
    ):
        samples = [cell.numbers["sequences"] for cell in cells]
        again = repeat_share(samples)
        left = variance_left(samples, [cell.numbers["alone"] for cell in cells])
        rows.append(
            (
                *(str(network), int(n)),
                *(mean_of(cells, name) for name in ("edges", "several", "most_bits")),
                conditional_entropy(samples),
                "" if again is None else f"{100 * again:.0f} %",
                "" if left is None else f"{100 * left:.0f} %",
                float(cells[0].numbers["graph_bits"]),
                len(cells),
            )
        )
    columns = (
        "network", "n", "edges", "variables with 2 or 3 parents", "bits of the sequence, at most",
        "to one who knows", "seen again", "variance left", "bits of the graph", "runs",
    )  # fmt: skip
    table = ResultTable("leak", "What the steps tell beyond the graph", columns, tuple(rows), 1)
    return Report("private-k2/leak: what adaptive mode tells beyond the graph", (table,), {}, NOTES)
