"""Upper bounds on the AND gates and bytes of a run, from its terms, before the parties agree.

They follow from the terms and the number of common rows, which is at most the number of keys that a party
has: so each has its own upper bound and knows nothing of the other's rows. Only the intersection grows with
the other's number of keys, which is not known yet: each that the other has beyond one's own costs
`MORE_KEY_BYTES`. In hidden mode the gates are those of the plan; in adaptive mode they are the most that any
sequence of winners would need. Gates of families are counted by formulas: to build their circuits would take
minutes for families of thousands of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

from dagora.base.errors import DisagreementError
from dagora.base.wording import option
from dagora.parties.crypto.garbling.builder import Builder
from dagora.parties.crypto.garbling.output_check import DIGEST_BYTES
from dagora.parties.crypto.garbling.streaming import TABLE_BYTES
from dagora.parties.crypto.garbling.words import add, constant
from dagora.parties.crypto.garbling.yao import LABEL_BYTES
from dagora.parties.vertical.columns import indicator_sets, indicators, number_of_sets
from dagora.parties.vertical.counting_circuits import KEY_BITS, counting_gates, outputs_if_same_keys
from dagora.parties.vertical.dot_layout import arrange
from dagora.parties.vertical.moments import cross_pairs
from dagora.parties.vertical.parameter_circuits import opening
from dagora.parties.vertical.score_circuits import (
    chain,
    family_counts,
    insertion,
    log_factorial_circuit,
    selection,
    share_sum,
    step,
)
from dagora.parties.vertical.stirling_tables import log_factorial_of_levels
from dagora.parties.vertical.widths import BitWidths, most_rows

if TYPE_CHECKING:
    from dagora.parties.vertical.agreement import AgreedTerms

MOST_GATES = 1 << 31  # 69 GB of tables
KEY_BYTES = 150  # of the intersection, for each key where both have as many: 64 · 1.3 + 3 · 16 + 16
# For each key that the other has beyond one's own: values of the guest's keys, or codes for the host's bins.
MORE_KEY_BYTES = {"host": 48, "guest": 84}
SETUP_BYTES = 100_000  # public key, base transfers, agreement, names of levels: measured as 72,000
HEADER_SHARE = 200  # one byte of headers, of messages and of TLS, for so many bytes at most


@dataclass(frozen=True, slots=True)
class Costs:
    """AND gates of the search, and bytes of all messages, both ways."""

    gates: int
    size: int

    def describe(self) -> str:
        """Describe the costs in a few words.

        >>> Costs(5_300_000, 190_000_000).describe()
        '5.3 million AND gates and 190 MB'
        """
        gates = f"{self.gates / 1e6:.1f} million" if self.gates >= 100_000 else str(self.gates)
        size = f"{self.size / 1e9:.1f} GB" if self.size >= 1_000_000_000 else f"{self.size / 1e6:.0f} MB"
        return f"{gates} AND gates and {'1 MB' if size == '0 MB' else size}"


def widths_for(terms: AgreedTerms, rows: int) -> BitWidths:
    """The widths of the circuits for so many common rows."""
    return BitWidths(rows, terms.limit, "g" if terms.score == "g" else "f", max(terms.levels))


def bound_costs(terms: AgreedTerms, rows: int) -> Costs:
    """The most that a run with at most so many common rows costs."""
    rows = min(max(rows, 1), most_rows(max(terms.levels)))
    widths = widths_for(terms, rows)
    if terms.security == "malicious":
        return malicious_costs(widths, terms)
    counted = hidden_gates if terms.mode == "hidden" else adaptive_gates
    gates, words = counted(widths, terms)
    more, cells = opening_gates(widths, terms)
    gates, words = gates + more, words + cells
    # Of each word that is entered as shares, both parties' bits get a label.
    size = TABLE_BYTES * gates + 2 * LABEL_BYTES * widths.bits * words
    size += dot_product_bytes(terms, rows) + KEY_BYTES * rows
    names = 4 * sum(len(name.encode()) for name in terms.names)  # sent once, and in orders
    return Costs(gates, size + size // HEADER_SHARE + names + SETUP_BYTES)


def malicious_costs(widths: BitWidths, terms: AgreedTerms) -> Costs:
    """The costs of two garbled runs that count the rows too; gates and bytes are of both."""
    columns = sum(count - 1 for count in terms.levels)
    entered = columns * widths.rows + 2 * KEY_BITS
    # Labels of one party's bits, columns of transfers of the other's; hashes of labels of outputs.
    outputs = 1 + len(terms.names) * (len(terms.names) - 1) // 2
    gates = malicious_gates(widths, terms)
    size = TABLE_BYTES * gates + 2 * LABEL_BYTES * entered + 4 * DIGEST_BYTES * outputs
    names = 4 * sum(len(name.encode()) for name in terms.names)
    return Costs(gates, size + size // HEADER_SHARE + names + SETUP_BYTES)


def malicious_gates(widths: BitWidths, terms: AgreedTerms) -> int:
    """AND gates of both runs of `dual_execution`."""
    searched, words = hidden_gates(widths, terms)
    searched -= words * share_sum(widths.bits).n_and
    counted = counting_gates(terms.levels, terms.limit + 1, widths.rows, widths.bits)
    marks = len(terms.names) * (len(terms.names) - 1) // 2
    return 2 * (counted + searched + outputs_if_same_keys(marks).n_and)


def check_gates(terms: AgreedTerms, rows: int) -> None:
    """Refuse a search that would take longer than anybody waits; both parties know the number of rows."""
    widths = widths_for(terms, rows)
    if terms.security == "malicious":
        gates = malicious_gates(widths, terms)
    else:
        gates = (hidden_gates if terms.mode == "hidden" else adaptive_gates)(widths, terms)[0]
    if gates > MOST_GATES:
        raise DisagreementError(
            f"the search would take {gates / 1e9:.1f} billion AND gates, at most {MOST_GATES / 1e9:.1f} are "
            f"accepted: take fewer columns, fewer levels or a lower {option('max_parents')}"
        )


def hidden_gates(widths: BitWidths, terms: AgreedTerms) -> tuple[int, int]:
    """AND gates of `k2_schedule.hidden_plan`, and the words that are entered as shares."""
    counts = [terms.levels[variable] for variable in terms.order]
    words = number_of_sets(counts, terms.limit + 1)
    gates = words * share_sum(widths.bits).n_and
    for child, own in enumerate(counts):
        gates += score_gates(widths, (own,)) + parent_gates(widths, counts[:child], own, terms.limit)
    return gates, words


def parent_gates(widths: BitWidths, levels: Sequence[int], own: int, limit: int) -> int:
    """AND gates of the search for one child's parents among candidates with so many levels each."""
    gates, padded, places = 0, max(levels, default=2), list(levels)
    for chosen in range(min(limit, len(levels))):
        before = (padded,) * chosen
        gates += sum(score_gates(widths, (*before, count, own)) for count in places)
        gates += step(widths.width, len(places), secret=True).n_and
        gates += sum(insertion(len(places) + k + 1).n_and for k in range(chosen))
        if chosen + 1 == min(limit, len(levels)):
            break
        left = len(places)
        places = [max(pair) for pair in pairwise(places)]
        patterns = own * padded**chosen
        for size in range(min(limit - chosen - 1, left - 1) + 1):
            sets = number_of_sets(places, size) - number_of_sets(places, size - 1) if size else 1
            gates += patterns * sets * (padded - 1) * selection(widths.bits, left).n_and
            gates += patterns * sets * chain(widths.bits, size).n_and if size else 0
    return gates


def adaptive_gates(widths: BitWidths, terms: AgreedTerms) -> tuple[int, int]:
    """The most AND gates that choices one after the other can take, and the words entered as shares."""
    counts = [terms.levels[variable] for variable in terms.order]
    gates = words = 0
    for child, own in enumerate(counts):
        before = sorted(counts[:child], reverse=True)
        for chosen in range(min(terms.limit, child)):
            offered = before[: child - chosen]
            gates += step(widths.width, len(offered)).n_and
            for count in offered:
                some = prod(before[:chosen]) * count * (own + 1)
                words += some
                gates += some * (share_sum(widths.bits).n_and + log_factorial_circuit(widths).n_and)
                gates += sum_gates(widths, some // (own + 1), own)
    return gates, words


def opening_gates(widths: BitWidths, terms: AgreedTerms) -> tuple[int, int]:
    """The most AND gates that opening the parameters can take, and the words entered as shares."""
    if terms.parameters != "open":
        return 0, 0
    counts = [terms.levels[variable] for variable in terms.order]
    gates = words = 0
    for child, own in enumerate(counts):
        parents = sorted(counts[:child], reverse=True)[: terms.limit]
        if parents:
            # As many gates for each configuration, and one that joins it to the others.
            one, two = (opening(widths.bits, (count, own)).n_and for count in (1, 2))
            gates += one + (prod(parents) - 1) * (two - one)
            words += prod(parents) * own
    return gates + words * share_sum(widths.bits).n_and, words


def score_gates(widths: BitWidths, levels: tuple[int, ...]) -> int:
    """AND gates of the score of a family, from its moments."""
    configurations = prod(levels[:-1])
    logarithms = configurations * (levels[-1] + 1) * log_factorial_circuit(widths).n_and
    return (
        count_gates(widths, levels) + logarithms + sum_gates(widths, configurations, levels[-1])
    )  # fmt: skip


def count_gates(widths: BitWidths, levels: tuple[int, ...]) -> int:
    """AND gates of `family_counts`: a subtraction for each level but the first of each line of each axis."""
    bits, own, cells = widths.bits, levels[-1], prod(levels)
    subtractions = sum(cells // count * (count - 1) for count in levels)
    # α_j + r − 1 of one configuration: what a child without parents takes besides its subtractions.
    added = family_counts(bits, (own,)).n_and - (own - 1) * (bits - 1)
    return subtractions * (bits - 1) + cells // own * added


def sum_gates(widths: BitWidths, configurations: int, own: int) -> int:
    """AND gates of `score_circuit`: all words are added or subtracted, and then a constant is added."""
    width, more = widths.width, log_factorial_of_levels(widths, own)
    return ((own + 1) * configurations - 1) * (width - 1) + constant_gates(width, configurations * more)


@lru_cache(maxsize=256)
def constant_gates(width: int, value: int) -> int:
    """AND gates of a sum with a constant, which its bits decide."""
    build = Builder()
    (word,) = build.words(1, width)
    return build.circuit(add(build, word, constant(value, width))).n_and if value else 0


def dot_product_bytes(terms: AgreedTerms, rows: int) -> int:
    """Bytes of the encrypted columns and of what comes back."""
    groups, count = indicators(terms.levels), len(terms.host)
    host, guest = (indicator_sets(some, terms.limit) for some in (groups[:count], groups[count:]))
    pairs = cross_pairs(host, guest, terms.limit + 1)
    if terms.crypto == "rlwe":
        return arrange(rows, pairs).payload
    from dagora.parties.crypto.encryption.paillier import KEY_BITS, slots_per_message
    from dagora.parties.vertical.dot_paillier import pack_columns

    packing = pack_columns(pairs, slots_per_message(KEY_BITS))
    return KEY_BITS // 4 * (len(packing.groups) * rows + len(packing.products))
