"""Hostile questions to a site, with bounds checks of kernels on: none may crash it or leave the plan.

    NUMBA_BOUNDSCHECK=1 python benchmarks/fuzz_questions.py [--questions 100000] [--output FILE.md]

For each kind of question, valid messages are damaged, cut, mixed and filled with hostile numbers, and sent
through the code that reads and answers them at a site. An answer must be a sum that the plan allows;
everything else must be one line.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")

import numpy as np

from dagora.base.errors import ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import code_rows, follow_codebook
from dagora.parties.horizontal.plan.drafting import draft_effect_plan, draft_plan
from dagora.parties.horizontal.session.questions import PlanQuestion, read_question
from dagora.parties.horizontal.session.row_sums import SUMMED
from dagora.parties.transport.messages import encode
from report import deliver, machine, markdown_table
from runs import note

BOOK = Codebook(
    (
        ColumnCoding("a", levels=("no", "yes")),
        ColumnCoding("b", levels=("x", "y", "z")),
        ColumnCoding("c", low=-4.0, high=4.0),
        ColumnCoding("d", cuts=(0.5, 1.5)),
    )
)
SITES = {"north": "", "south": "", "west": ""}
PLAN = draft_plan(BOOK, SITES, "notears-sob", cells_per_table=12, functions=3)
# Series, and regressions, have plans of their own, which hold nothing else.
NUMBERS = Codebook((BOOK.columns[2], *(ColumnCoding(name, low=-4.0, high=4.0) for name in "ef")))
PLANS = {
    "lagged": draft_plan(NUMBERS, SITES, "dynotears", lags=2, step=1.0),
    "fourth": draft_effect_plan(NUMBERS, SITES, [("c", "e", "f"), ("f", "e")]),
}
EDGES = np.array(
    [0, 1, 2, 3, 4, -1, -2, 7, 43, 2**15, 2**16, 2**31, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63)]
)


def site_rows(kind: str):
    rng = np.random.default_rng(0)
    if kind in PLANS:
        table = Table.from_numpy(rng.normal(size=(30, 3)), names=list("cef"), continuous=["all"])
        rows = code_rows(follow_codebook(table, NUMBERS), NUMBERS, PLANS[kind].largest_rows)
        return replace(rows, starts=np.array([0, 10, 12, 30]))
    values = {
        "a": rng.choice(["no", "yes"], 30),
        "b": rng.choice(["x", "y", "z"], 30),
        "c": rng.normal(size=30),
        "d": rng.normal(size=30),
    }
    import pandas as pd

    table = Table.from_frame(pd.DataFrame(values), continuous=["c", "d"])
    return code_rows(follow_codebook(table, BOOK), BOOK, PLAN.largest_rows)


def hostile(kind: str, rng: np.random.Generator) -> bytes:
    """A message that may be valid, nearly valid, or rubbish."""
    how = rng.integers(5)
    if kind == "counts" and how < 3:
        many = rng.integers(0, 6, size=2)
        pool = EDGES if how else EDGES[:5]
        columns = rng.choice(pool, many[0])
        offsets = (
            np.sort(rng.choice(np.arange(many[0] + 1), many[1])) if how == 1 else rng.choice(pool, many[1])
        )
        if how == 2 and many[0]:
            offsets = np.array([0, many[0]])
        return encode({"kind": "counts", "columns": columns, "offsets": offsets})
    if kind == "lagged" and how < 2:
        return encode({"kind": "lagged", "lags": int(rng.choice(EDGES))})
    valid = {
        "counts": PlanQuestion("counts", ((0,), (0, 1), (1, 3))),
        "basis": PlanQuestion("basis", functions=3),
        "lagged": PlanQuestion("lagged", lags=2),
    }.get(kind, PlanQuestion(kind))
    message = bytearray(valid.encode())
    if how == 3:
        for place in rng.integers(len(message), size=rng.integers(1, 6)):
            message[place] = rng.integers(256)
    else:
        a, b = np.sort(rng.integers(len(message) + 1, size=2))
        message[a:b] = rng.bytes(rng.integers(0, 20))
    return bytes(message)


def fuzz(kind: str, questions: int, seed: int = 0) -> Counter:
    """Send hostile questions; count how they ended."""
    rows, rng, ended = site_rows(kind), np.random.default_rng(seed), Counter()
    plan = PLANS.get(kind, PLAN)
    for _ in range(questions):
        try:
            question = read_question(hostile(kind, rng), plan)
        except ProtocolError as error:
            ended["refused" if str(error).isprintable() else "refused with raw characters"] += 1
            continue
        if question.kind == "done":
            ended["done"] += 1
            continue
        answer = SUMMED[question.kind](rows, *question.arguments)
        assert answer.dtype == np.int64
        assert question.kind in plan.questions
        assert len(answer) == question.size(plan.codebook.schema)
        if question.kind == "counts":
            assert int(answer.sum()) == 30 * len(question.sets)
            assert len(set(question.sets)) == len(question.sets)
            assert all(len(some) <= PLAN.columns_per_table for some in question.sets)
        ended["answered, within the plan"] += 1
    return ended


def main() -> None:
    parser = argparse.ArgumentParser(description="Hostile questions to a site.")
    parser.add_argument("--questions", type=int, default=100_000, help="of each kind")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    lines = []
    how_they_end = ("refused", "refused with raw characters", "answered, within the plan", "done")
    for kind in SUMMED:
        note(f"{options.questions} questions like {kind}")
        ended = fuzz(kind, options.questions)
        lines.append([kind, *(str(ended[how]) for how in how_they_end)])
    table = markdown_table(("kind", *how_they_end), lines)
    bounds = "on" if os.environ["NUMBA_BOUNDSCHECK"] == "1" else "OFF"
    text = f"{options.questions} questions of each kind, bounds checks of kernels {bounds}; no crash."
    deliver(
        "\n\n".join(["## Hostile questions", text, table, machine("dagora", "numpy", "numba")]),
        options.output,
    )


if __name__ == "__main__":
    main()
