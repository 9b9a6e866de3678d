"""A coordinator wants an answer to a question that the plan does not hold."""

import numpy as np
import pytest

from dagora.base.errors import DagoraError, ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import code_rows, follow_codebook
from dagora.parties.horizontal.plan.drafting import draft_plan
from dagora.parties.horizontal.plan.plan import RunPlan
from dagora.parties.horizontal.session.questions import DONE, PlanQuestion, read_question
from dagora.parties.horizontal.session.row_sums import SUMMED
from dagora.parties.transport.messages import encode
from tests.attacks.fuzz import damage, tries

ROWS = 30
COLUMNS = (
    ColumnCoding("a", levels=("0", "1")),
    ColumnCoding("b", levels=("0", "1", "2")),
    ColumnCoding("c", low=-4.0, high=4.0),
)
BOOK = Codebook(COLUMNS)
PLAN = draft_plan(BOOK, {"north": "", "south": "", "west": ""}, "notears-sob", cells_per_table=6, functions=3)
EDGES = [0, 1, 2, 3, -1, 7, 2**15, 2**31, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63)]
WHOLE = [
    PlanQuestion("counts", ((0,), (0, 1))).encode(),
    PlanQuestion("moments").encode(),
    PlanQuestion("basis", functions=3).encode(),
    PlanQuestion("indicators").encode(),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.integers(0, 2, ROWS), rng.integers(0, 3, ROWS), rng.normal(size=ROWS)])
    table = Table.from_numpy(columns, names=list("abc"), discrete=["a", "b"], continuous=["c"])
    return code_rows(follow_codebook(table, BOOK), BOOK, PLAN.largest_rows)


def odd_question(draw):
    """Sets of columns that may be valid, or a question that was damaged."""
    if draw.random() < 0.5:
        return damage(draw.choice(WHOLE), draw)
    columns, offsets = ([draw.choice(EDGES) for _ in range(draw.randrange(6))] for _ in range(2))
    return encode({"kind": "counts", "columns": np.array(columns, "i8"), "offsets": np.array(offsets, "i8")})


@pytest.mark.full
def test_odd_questions(rows):
    for draw in tries(5):
        try:
            question = read_question(odd_question(draw), PLAN)
        except ProtocolError as error:
            assert str(error).isprintable()
            continue
        if question.kind == DONE:
            continue
        answer = SUMMED[question.kind](rows, *question.arguments)
        assert (answer.dtype, len(answer)) == (np.int64, question.size(BOOK.schema))
        if question.kind == "counts":
            assert int(answer.sum()) == ROWS * len(question.sets)
            assert all(len(some) <= PLAN.columns_per_table for some in question.sets)


@pytest.mark.full
def test_odd_plans():
    """What is read as a plan is written as it came."""
    whole = PLAN.encode()
    for draw in tries(2):
        plan = damage(whole, draw)
        try:
            assert RunPlan.decode(plan).encode() == plan
        except DagoraError as error:
            assert "\n" not in str(error)
