"""A coordinator wants to learn, over any number of questions, more than sums over all sites."""

from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from dagora.base.errors import FormatError, ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import code_rows, follow_codebook
from dagora.parties.horizontal.plan.plan import RunPlan
from dagora.parties.horizontal.policy.drafted_policy import draft_limits
from dagora.parties.horizontal.policy.policy import PolicyError, SitePolicy
from dagora.parties.horizontal.session.fourth_sums import FourthSums, fourth_sums
from dagora.parties.horizontal.session.questions import PlanQuestion, read_question
from dagora.parties.horizontal.session.row_sums import SUMMED, joint_counts
from dagora.parties.transport.messages import decode
from dagora.stats.indicators import feature_starts
from tests.attacks.hostile_coordinator import NAMES, tables
from tests.parties.horizontal.meeting import Meeting


def test_no_question_has_a_parameter_besides_the_columns():
    """`unit`, `mean`, `spread`, `largest` and shapes have left the wire."""
    assert set(SUMMED) == {"counts", "moments", "basis", "indicators", "lagged", "fourth", "weights"}
    fields = {
        field
        for question in (
            PlanQuestion("moments"),
            PlanQuestion("counts", ((0,),)),
            PlanQuestion("fourth", ((0,),)),
            PlanQuestion("weights"),
        )
        for field in decode(question.encode())
    }
    assert fields == {"kind", "columns", "offsets"}


def test_two_ways_to_deal_out_the_same_rows_look_alike_over_any_number_of_questions():
    """Whatever is asked, the transcript of sums is a function of the pooled rows."""
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.integers(0, 2, 60), rng.integers(0, 3, 60), rng.normal(size=60)])
    pooled = Table.from_numpy(rows, names=["a", "b", "x"], discrete=["a", "b"], continuous=["x"])
    transcripts = []
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(60)
        sizes = (10, 20, 30) if seed else (25, 5, 30)
        cuts = np.cumsum((0, *sizes))
        parts = {f"s{k}": pooled.take(order[a:b]) for k, (a, b) in enumerate(pairwise(cuts))}
        meeting = Meeting(parts, plan={})
        with meeting.session as session:
            sums = [session.counts([(), (0,), (0, 1)]), session.counts([(1,)])]
            for _ in range(5):
                moments = session.moments()
                sums += [moments.mean, moments.scatter]
        transcripts.append(b"".join(np.asarray(some).tobytes() for some in sums))
    assert transcripts[0] == transcripts[1]


def test_what_is_summed_is_never_shown():
    meeting = Meeting(tables())
    with pytest.raises(ProtocolError, match="nothing of this kind is shown"), meeting.session as session:
        session.gather("local-weights", {})


def test_a_question_before_the_keys_ends_the_run():
    meeting = Meeting(tables())
    ask = PlanQuestion("counts", ((0,),)).encode()
    with meeting.session:
        for name in NAMES:
            with pytest.raises(ProtocolError, match="needs keys"):
                meeting.hub.send(name, "ask", ask)
            meeting.hub.inner._inner.send(name, "ask", ask)
        read_question(ask, meeting.plan)
    assert all(line for line in meeting.lines().values())
    assert all(meeting.answers(name) == [] for name in NAMES)


def test_a_plan_cannot_be_shown_more_than_its_method_needs():
    meeting = Meeting(tables(), method="vote")
    with pytest.raises(FormatError, match="does not need to be shown admm-step"):
        replace(meeting.plan, shows=("admm-step",))
    meeting.session.close("over")


def test_products_of_four_columns_with_two_values_are_their_joint_table():
    """docs/security-officer.md says so; this test would fail if the warning could go."""
    values = (np.random.default_rng(0).random((90, 4)) < [0.05, 0.1, 0.5, 0.3]).astype(float)
    book = Codebook(tuple(ColumnCoding(name, low=0.0, high=1.0) for name in "wxyz"))
    table = Table.from_numpy(values, names=list("wxyz"), continuous=["all"])
    rows = code_rows(follow_codebook(table, book), book, 1 << 22)
    sums = FourthSums.read(fourth_sums(rows, [(0, 1, 2, 3)]), 4, rows.bits).sums
    chosen = list(product([0, 1], repeat=4))
    told = [sums[tuple((k + 1) * used for k, used in enumerate(some))] >> 4 * rows.bits for some in chosen]
    signs = [[np.prod(np.where(some, 2 * np.array(cell) - 1, 1)) for cell in chosen] for some in chosen]
    counts = np.linalg.solve(np.array(signs, float), np.array(told, float))
    assert np.rint(counts).tolist() == [int((values == cell).all(axis=1).sum()) for cell in chosen]


BOTH_KINDS = Codebook(
    (
        ColumnCoding("a", levels=("0", "1")),
        ColumnCoding("b", levels=("0", "1", "2")),
        ColumnCoding("x", low=0.0, high=1.0),
    )
)


def test_indicators_are_the_joint_tables_of_all_pairs():
    """docs/security-officer.md says so; this test would fail if the warning could go."""
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.integers(0, 2, 80), rng.integers(0, 3, 80), rng.random(80)])
    table = Table.from_numpy(values, names=list("abx"), discrete=["a", "b"], continuous=["x"])
    rows = code_rows(follow_codebook(table, BOTH_KINDS), BOTH_KINDS, 1 << 22)
    sums = SUMMED["indicators"](rows)
    size = int(feature_starts(rows.schema)[-1])
    products = np.zeros((size, size), dtype=np.int64)
    products[np.triu_indices(size)] = sums[1 + size :]
    # Level 1 of a with levels 1 and 2 of b: features 0, 1 and 2.
    counts = joint_counts(rows, [(0, 1)]).reshape(2, 3)
    assert (products[0, 1:3] >> 2 * rows.bits).tolist() == counts[1, 1:].tolist()


@pytest.mark.parametrize("columns", [1, 2])
def test_an_owner_who_allows_no_table_of_two_columns_answers_no_indicators(columns):
    sites = {name: f"sha256:{number:064x}" for number, name in enumerate(("east", "mid", "west"))}
    plan = RunPlan(sites, BOTH_KINDS, "tabu", ("indicators",), coordinator=f"sha256:{9:064x}")
    policy = SitePolicy(
        plan.coordinator, sites, BOTH_KINDS, questions=("indicators",), columns_per_table=columns,
        tables_per_run=9, tables_for_ever=9,
    )  # fmt: skip
    if columns == 2:
        policy.check(plan, "east", History())
        return
    with pytest.raises(PolicyError, match="tables of two columns"):
        policy.check(plan, "east", History())


def rows_told(rows, columns):
    """Whole rows from tables of so many columns: of those who are alone in a cell of one column fewer."""
    d = len(rows.schema)
    told = set()
    for some in combinations(range(d), columns - 1):
        alone = np.flatnonzero(joint_counts(rows, [some]) == 1)
        if not len(alone):
            continue
        found = np.empty((len(alone), d), dtype=int)
        found[:, some] = np.stack(np.unravel_index(alone, [2] * len(some)), axis=1)
        for other in sorted(set(range(d)) - set(some)):
            wider = tuple(sorted((*some, other)))
            table = joint_counts(rows, [wider]).reshape([2] * columns)
            found[:, other] = np.moveaxis(table, wider.index(other), -1).reshape(-1, 2)[alone, 1]
        told |= set(map(tuple, found.tolist()))
    return told


def test_tables_of_a_drafted_policy_tell_whole_rows():
    """docs/federated.md says so; this test would fail if the warning could go."""
    rng = np.random.default_rng(0)
    values = (rng.random((1000, 12)) < rng.uniform(0.05, 0.5, 12)).astype(int)
    names = [f"x{k}" for k in range(12)]
    book = Codebook(tuple(ColumnCoding(name, levels=("0", "1")) for name in names))
    table = Table.from_numpy(values, names=names, discrete=["all"])
    rows = code_rows(follow_codebook(table, book), book, 1 << 22)
    columns, _ = draft_limits([2] * 12, 1000)
    told = rows_told(rows, columns)
    assert (columns, len(rows_told(rows, 3))) == (6, 0)
    assert len(told) > 100
    assert told <= set(map(tuple, values.tolist()))
