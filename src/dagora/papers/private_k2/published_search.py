"""The paper's own way to a score, shares of ln x and x ln x by Taylor series, beside circuits of ln x!.

Wright & Yang 2004 add up shares of ln x and x ln x (Lindell & Pinkas 2002) to their score g. `series` is the
error of k terms over all counts up to n. `protocol` runs K2 on asia with that protocol, both parties as
threads with the messages of a real run, and our own session on the same rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from dagora.learners.run import Run
from dagora.learners.search.k2 import run_k2
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.private_k2.central import family_score, k2_parents
from dagora.papers.private_k2.networks import NetworkRows, draw_rows, session_in_memory
from dagora.papers.private_k2.published_logarithms import TaylorSeries
from dagora.papers.reference_data import reference_file
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable
from dagora.scores.local_score import TIE

NETWORK = "asia"
# By hand: the paper does not say how many terms it takes.
SERIES_TERMS, SERIES_ROWS = (2, 4, 8, 12, 16, 20), (100, 1000)
# Searches: rows, terms, the most parents.
QUICK = ((100, 4, 1), (100, 8, 1), (100, 16, 1))
FULL = (*QUICK, (100, 8, 2), (100, 16, 2), (1000, 8, 2), (1000, 16, 2))

NOTES = paragraphs("""
ln x = e ln 2 + ln(1 + ε) for the power of two 2^e nearest to x, and k terms of the Taylor series of the
second part. The bound on the error of x ln x is x / (2^k (k + 1)), which is what Lindell & Pinkas give for
|ε| ≤ ½; the rounding of e ln 2 to 30 bits adds at most x / 2^31.

The protocol, for each ln x: a garbled circuit gives the parties shares of ε and of e ln 2, one evaluates a
polynomial of degree k on powers that the other has encrypted by Paillier's scheme (3072 bits), and a second
answer makes shares of x ln x. A family with p parents takes 3 · 2^p of them. Shares are integers with masks
of 40 bits more, not elements of a field. Shares of the counts are dealt, not computed, as how they come about
is not in question here. The sums of shares are opened to choose a parent, where the paper compares them in
another circuit. So the seconds are those of the logarithms alone; a whole run of the paper's protocol would
take longer.

“ours” is adaptive mode with score g on the same rows, both parties in this process as well: everything, from
the keys to circuits that compute logarithms and compare. CPU seconds are of both parties together. The
largest error of a score is over all families that the search asked for; “graph” says whether it is the one
that exact g gives.
""")


def make_experiment(size: Size) -> Experiment:
    """Make the experiment, from cheap to expensive."""
    reference_file(f"networks/{NETWORK}.bif.gz")
    cells: list[Parameters] = [{"k": k, "n": n} for n in SERIES_ROWS for k in SERIES_TERMS]
    cells += [
        {"network": NETWORK, "n": n, "k": k, "limit": limit, "seed": size.seed}
        for n, k, limit in (FULL if size.full else QUICK)
    ]
    return Experiment("private-k2/published", tuple(cells), measure, report)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """The errors of a series, or a search by the paper's logarithms."""
    if "network" not in parameters:
        return series_errors(int(parameters["k"]), int(parameters["n"]))
    rows = draw_rows(str(parameters["network"]), int(parameters["n"]), int(parameters["seed"]))
    limit = int(parameters["limit"])
    with LogarithmPair(int(parameters["k"]), len(rows.bits)) as pair:
        search = PublishedSearch(rows, pair)
        used = time.process_time()
        parents = run_k2(rows.order, limit, search.choose)
        spent = time.process_time() - used
    exact = k2_parents(rows.bits, rows.order, limit, "g")
    ours = our_session(rows, limit, run)
    return {
        "logarithms": pair.logarithms,
        "cpu_seconds": spent,
        "megabytes": pair.megabytes,
        "score_error": search.largest_error,
        "same": [sorted(some) for some in parents] == [sorted(some) for some in exact],
        "edges": sum(map(len, parents)),
        **ours,
    }


def series_errors(k: int, n: int) -> Numbers:
    """The largest errors of ln x and x ln x over x = 1, …, n, and the bound.

    >>> errors = series_errors(8, 100)
    >>> errors["product"] < errors["bound"]
    True
    """
    series = TaylorSeries(k)
    errors = [abs(float(series.logarithm(x)) - math.log(x)) for x in range(1, n + 1)]
    return {
        "logarithm": max(errors),
        "product": max(x * error for x, error in enumerate(errors, 1)),
        "bound": n / (2.0**k * (k + 1)),
    }


class LogarithmPair:
    """Both parties as threads, ready for batches of logarithms."""

    def __init__(self, k: int, rows: int) -> None:
        from dagora.parties.crypto.channel import Channel
        from dagora.parties.crypto.encryption.paillier import Multiplier, PaillierSecretKey
        from dagora.parties.crypto.garbling.yao import Evaluator, Garbler
        from dagora.parties.crypto.transfer.oblivious_transfer import TransferReceiver, TransferSender
        from dagora.parties.transport.in_memory import memory_network

        self._series = TaylorSeries(k)
        self._bits = (rows + 1).bit_length()
        self._key = PaillierSecretKey.generate()
        self._helper = Multiplier(self._key.public)
        self._network = memory_network(["one", "two"], timeout=3600.0)
        self._pool = ThreadPoolExecutor(2)
        one, two = self._network["one"], self._network["two"]
        garbler = self._pool.submit(lambda: Garbler(one, TransferSender(one)))
        evaluator = self._pool.submit(lambda: Evaluator(two, TransferReceiver(two)))
        self._garbler, self._evaluator = garbler.result(), evaluator.result()
        self._channels = Channel(one, "two", "logarithms"), Channel(two, "one", "logarithms")
        self._random = np.random.default_rng()
        self.logarithms = 0

    def __enter__(self) -> LogarithmPair:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pool.shutdown()
        for party in self._network.values():
            party.close()

    @property
    def megabytes(self) -> float:
        """The bytes that both have sent so far."""
        return sum(party.ledger.books().total.wire_sent for party in self._network.values()) / 1e6

    def terms(self, counts: NDArray[np.uint64]) -> NDArray[np.float64]:
        """½ ln x + x ln x − x of shared counts, opened."""
        from dagora.papers.private_k2.published_logarithms import first_shares, open_shares, second_shares

        mask = np.uint64((1 << self._bits) - 1)
        dealt = self._random.integers(0, 1 << self._bits, len(counts), dtype=np.uint64)
        shared = dealt, (counts - dealt) & mask
        one = self._pool.submit(
            first_shares,
            self._garbler,
            self._channels[0],
            self._helper,
            self._key.public,
            self._series,
            shared[0],
            self._bits,
        )
        two = self._pool.submit(
            second_shares, self._evaluator, self._channels[1], self._key, self._series, shared[1], self._bits
        )
        ours, theirs = one.result(), two.result()
        self.logarithms += len(counts)
        public, scale = self._key.public, self._series.scale
        logarithms = np.array(open_shares(ours.logarithm, theirs.logarithm, public, scale))
        products = np.array(open_shares(ours.product, theirs.product, public, scale))
        return np.asarray(0.5 * logarithms + products - np.array(open_shares(ours.x, theirs.x, public, 1)))


class PublishedSearch:
    """The chooser of K2 on scores from the paper's logarithms."""

    def __init__(self, rows: NetworkRows, pair: LogarithmPair) -> None:
        self._columns = rows.bits.T.astype(np.int64)
        self._pair = pair
        self._own: dict[int, float] = {}
        self.largest_error = 0.0

    def choose(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> int | None:
        """Return the candidate that wins, if any."""
        families = [[*parents, candidate] for candidate in candidates]
        if child not in self._own:
            self._own[child] = self._scores(child, [list(parents)])[0]
        values = self._scores(child, families)
        best, own = float(values.max()), self._own[child]
        if not best > own + TIE * max(abs(own), 1.0):
            return None
        winner = int(np.flatnonzero(values >= best - TIE * abs(best))[0])
        self._own[child] = float(values[winner])
        return candidates[winner]

    def _scores(self, child: int, families: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Scores of a child with each of some sets of parents, all of one size."""
        size = len(families[0])
        patterns = [
            sum((self._columns[parent] << place for place, parent in enumerate(parents)), np.int64(0))
            | self._columns[child] << size
            for parents in families
        ]
        counts = np.array([np.bincount(each, minlength=2 << size) for each in patterns])
        zeros, ones = np.split(counts, 2, axis=1)
        words = np.concatenate([zeros, ones, zeros + ones + 1], axis=1).astype(np.uint64)
        terms = self._pair.terms(words.ravel()).reshape(words.shape)
        half = zeros.shape[1]
        scores = terms[:, : 2 * half].sum(axis=1) - terms[:, 2 * half :].sum(axis=1)
        exact = np.array([family_score(each, size + 1, "g") for each in patterns])
        self.largest_error = max(self.largest_error, float(np.abs(scores - exact).max()))
        return np.asarray(scores)


def our_session(rows: NetworkRows, limit: int, run: Run) -> dict[str, float]:
    """CPU seconds and megabytes of adaptive mode with score g; a first session compiles and is not kept."""
    from dagora.parties.vertical.agreement import TermsProposal

    proposal = TermsProposal(rows.written_order, limit, "g", "adaptive")
    for _ in range(2):
        used = time.process_time()
        result = session_in_memory(rows, proposal, run.on_event)
        spent = time.process_time() - used
    stats = result.stats
    sent = stats["bytes_to_guest"] + stats["bytes_from_guest"]
    return {"our_cpu_seconds": spent, "our_megabytes": sent / 1e6}


def report(measured: Sequence[MeasuredCell]) -> Report:
    """The errors of the series, and the searches."""
    tables = []
    columns: tuple[str, ...]
    series = [cell for cell in measured if "network" not in cell.parameters]
    if series:
        rows: list[tuple[Entry, ...]] = [
            (
                int(cell.parameters["n"]),
                int(cell.parameters["k"]),
                *(f"{float(cell.numbers[name]):.1e}" for name in ("logarithm", "product", "bound")),
            )
            for cell in series
        ]
        columns = ("largest x", "terms k", "error of ln x", "error of x ln x", "bound for x ln x")
        tables.append(ResultTable("series", "The Taylor series", columns, tuple(rows)))
    searches = [cell for cell in measured if "network" in cell.parameters]
    if searches:
        rows = [
            (
                *(cell.parameters[name] for name in ("network", "n", "k", "limit")),
                int(cell.numbers["logarithms"]),
                f"{float(cell.numbers['score_error']):.1e}",
                "the same" if cell.numbers["same"] else "another",
                *(
                    float(cell.numbers[name])
                    for name in ("cpu_seconds", "our_cpu_seconds", "megabytes", "our_megabytes")
                ),
            )
            for cell in searches
        ]
        columns = (
            "network", "n", "terms k", "parents at most", "logarithms", "largest error of a score", "graph",
            "CPU s", "CPU s, ours", "MB", "MB, ours",
        )  # fmt: skip
        tables.append(ResultTable("protocol", "K2 by the paper's logarithms", columns, tuple(rows), 1))
    title = "private-k2/published: the paper's shares of ln x and x ln x"
    return Report(title, tuple(tables), {}, NOTES)
