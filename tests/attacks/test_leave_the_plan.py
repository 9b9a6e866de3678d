"""A coordinator wants an answer to a question that the plan does not hold."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dagora.base.errors import DagoraError, ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import code_rows, follow_codebook
from dagora.parties.horizontal.plan.drafting import draft_effect_plan, draft_plan
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
NUMBERS = Codebook(tuple(ColumnCoding(name, low=-4.0, high=4.0) for name in "xyz"))
SERIES = draft_plan(NUMBERS, PLAN.sites, "dynotears", lags=2, step=1.0)
EFFECT = draft_effect_plan(NUMBERS, PLAN.sites, [("x", "y", "z"), ("z", "y")])
EDGES = [0, 1, 2, 3, -1, 7, 2**15, 2**31, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63)]
WHOLE = [
    PlanQuestion("counts", ((0,), (0, 1))).encode(),
    PlanQuestion("moments").encode(),
    PlanQuestion("basis", functions=3).encode(),
    PlanQuestion("indicators").encode(),
    PlanQuestion("lagged", lags=2).encode(),
    PlanQuestion("fourth").encode(),
]


def coded(plan):
    """Rows as a plan codes them, in three series."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(ROWS, 3))
    if plan is PLAN:
        columns[:, :2] = np.column_stack([rng.integers(0, 2, ROWS), rng.integers(0, 3, ROWS)])
    schema = plan.codebook.schema
    discrete = [variable.name for variable in schema if variable.levels]
    numbers = [name for name in schema.names if name not in discrete]
    table = Table.from_numpy(columns, names=list(schema.names), discrete=discrete, continuous=numbers)
    rows = code_rows(follow_codebook(table, plan.codebook), plan.codebook, plan.largest_rows)
    return replace(rows, starts=np.array([0, 10, 12, ROWS]))


def odd_question(draw):
    """A question that is whole or damaged, or one of odd numbers that may be valid."""
    if draw.random() < 0.5:
        whole = draw.choice(WHOLE)
        return whole if draw.random() < 0.2 else damage(whole, draw)
    columns, offsets = ([draw.choice(EDGES) for _ in range(draw.randrange(6))] for _ in range(2))
    if draw.random() < 0.3:
        return encode({"kind": "lagged", "lags": draw.choice(EDGES)})
    return encode({"kind": "counts", "columns": np.array(columns, "i8"), "offsets": np.array(offsets, "i8")})


@pytest.mark.full
@pytest.mark.fuzz
@pytest.mark.parametrize("plan", [PLAN, SERIES, EFFECT], ids=["tables", "series", "effect"])
def test_odd_questions(plan):
    rows, answered = coded(plan), set()
    for draw in tries(2):
        try:
            question = read_question(odd_question(draw), plan)
        except ProtocolError as error:
            assert str(error).isprintable()
            continue
        if question.kind == DONE:
            continue
        answer = SUMMED[question.kind](rows, *question.arguments)
        answered.add(question.kind)
        assert (answer.dtype, len(answer)) == (np.int64, question.size(plan.codebook))
        if question.kind == "counts":
            assert int(answer.sum()) == ROWS * len(question.sets)
            assert all(len(some) <= plan.columns_per_table for some in question.sets)
    assert answered == set(plan.questions)


def test_a_name_with_a_line_break():
    """Before, the line that refuses it was two lines."""
    content = {**json.loads(PLAN.encode()), "colu\nmns": 1}
    with pytest.raises(DagoraError) as refused:
        RunPlan.decode(json.dumps(content, sort_keys=True).encode())
    assert "colu\\nmns" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.full
@pytest.mark.fuzz
def test_odd_plans():
    """What is read as a plan is written as it came."""
    whole = [plan.encode() for plan in (PLAN, SERIES, EFFECT)]
    for draw in tries(2):
        plan = damage(draw.choice(whole), draw)
        try:
            assert RunPlan.decode(plan).encode() == plan
        except DagoraError as error:
            assert "\n" not in str(error)
