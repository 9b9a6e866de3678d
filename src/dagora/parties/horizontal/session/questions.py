"""The coordinator's questions as messages under the tag "ask", and how a site reads them.

A question is `counts` of some sets of columns, `moments`, `basis` (moments of functions of the columns),
`indicators` (moments of columns, squares and indicators of levels), `lagged` (moments of windows of time),
`fourth` (products of up to four columns of the plan's sets), `weights` (of the rows, and their squares),
`release` (with noise, by the plan's terms), `shown` (a task whose answer is not summed; where it is asked
once, the plan has its content, and the message none), or `done`. A message
becomes a frozen object here, or is refused: types, columns that the plan has, every set in order and once,
sizes within the plan's limits. Code that computes on rows sees only numbers that this module has checked.

A site's answer may depend on earlier questions. So both sides keep a digest of the whole `Conversation`, and
the masks of each sum are derived from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.plan import (
    BASIS,
    COUNTS,
    FOURTH,
    INDICATORS,
    LAGGED,
    MOMENTS,
    MOST_CELLS,
    RELEASE,
    SHOWN_ONCE,
    WEIGHTS,
    RunPlan,
)
from dagora.parties.horizontal.session.exact_products import numbers_in
from dagora.parties.horizontal.session.fourth_sums import LIMBS, number_of_sums
from dagora.parties.transport.messages import Array, Field, Value, check_fields, decode, encode
from dagora.stats.indicators import feature_starts
from dagora.stats.statistics import flatten

ASK = "ask"
ANSWER = "answer"
DONE, SHOWN = "done", "shown"
# The most cells of one question.
MOST_CELLS_AT_ONCE = 2 * MOST_CELLS
MOST_SETS_AT_ONCE = 1 << 20

Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """A checked question.

    `sets` are the columns of each table or regression (for `counts` and `fourth`), `functions` the number of
    functions (for `basis`), `lags` the number of steps that a window reaches back (for `lagged`), `task` and
    `content` the question to a site alone (for `shown`).
    """

    kind: str
    sets: Sets = ()
    functions: int = 0
    lags: int = 0
    task: str = ""
    content: Mapping[str, Value] | None = None

    def size(self, codebook: Codebook) -> int:
        """The number of integers in the answer."""
        schema, weighed = codebook.schema, codebook.largest_weight > 0
        if self.kind == WEIGHTS:
            return 3
        if self.kind == COUNTS:
            cards = schema.cardinalities
            return sum(prod(int(cards[column]) for column in some) for some in self.sets)
        if self.kind == INDICATORS:
            return numbers_in(int(feature_starts(schema)[-1]), weighed=weighed)
        if self.kind == FOURTH:
            return LIMBS * sum(number_of_sums(len(some)) for some in self.sets)
        columns = int((schema.cardinalities == 0).sum()) * max(1, self.functions) * (self.lags + 1)
        return numbers_in(columns, weighed=weighed)

    def encode(self) -> bytes:
        """Write the question."""
        if self.kind == COUNTS:
            columns, offsets = flatten(self.sets)
            return encode({"kind": COUNTS, "columns": columns, "offsets": offsets})
        if self.kind == BASIS:
            return encode({"kind": BASIS, "functions": self.functions})
        if self.kind == LAGGED:
            return encode({"kind": LAGGED, "lags": self.lags})
        if self.kind == SHOWN:
            return encode({"kind": SHOWN, "task": self.task, "content": dict(self.content or {})})
        return encode({"kind": self.kind})

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the function that answers it, after the rows."""
        return {
            COUNTS: (self.sets,),
            BASIS: (self.functions,),
            LAGGED: (self.lags,),
            FOURTH: (self.sets,),
        }.get(self.kind, ())


_FIELDS: dict[str, dict[str, Field]] = {
    COUNTS: {"kind": str, "columns": Array("i8", (None,)), "offsets": Array("i8", (None,))},
    MOMENTS: {"kind": str},
    BASIS: {"kind": str, "functions": int},
    INDICATORS: {"kind": str},
    LAGGED: {"kind": str, "lags": int},
    FOURTH: {"kind": str},
    WEIGHTS: {"kind": str},
    RELEASE: {"kind": str},
    SHOWN: {"kind": str, "task": str, "content": dict},
    DONE: {"kind": str},
}


def read_question(payload: bytes, plan: RunPlan) -> PlanQuestion:
    """Read a question of the coordinator, or refuse what the plan does not allow."""
    what = "the coordinator's question"
    content = decode(payload, what=what)
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise ProtocolError(f"{what} is of no known kind")
    check_fields(content, _FIELDS[kind], what=what)
    if kind == DONE:
        return PlanQuestion(DONE)
    if kind == SHOWN:
        return _shown_question(content["task"], content["content"], plan, what)
    if kind not in plan.questions:
        raise ProtocolError(f"{what} is not in the plan: it allows no {kind}")
    if kind == BASIS and content["functions"] != plan.functions:
        raise ProtocolError(f"{what} is not in the plan: it allows {plan.functions} functions per column")
    if kind == LAGGED and content["lags"] != plan.lags:
        raise ProtocolError(f"{what} is not in the plan: it allows windows of {plan.lags + 1} steps")
    if kind == COUNTS:
        return PlanQuestion(COUNTS, sets=check_sets(content["columns"], content["offsets"], plan, what))
    if kind == FOURTH:
        question = PlanQuestion(FOURTH, sets=tuple(map(plan.places, plan.sets)))
        if question.size(plan.codebook) > MOST_CELLS_AT_ONCE:
            raise ProtocolError(f"{what} asks for too many sums at once")
        return question
    return PlanQuestion(kind, functions=content.get("functions", 0), lags=content.get("lags", 0))


def _shown_question(task: str, content: dict[str, Value], plan: RunPlan, what: str) -> PlanQuestion:
    if task not in plan.shows:
        raise ProtocolError(f"{what} is not in the plan: nothing of this kind is shown")
    if task not in SHOWN_ONCE:
        return PlanQuestion(SHOWN, task=task, content=content)
    if content or task not in plan.shown_questions:
        raise ProtocolError(f"{what} has settings of its own: the plan says already what is asked")
    return PlanQuestion(SHOWN, task=task, content=plan.shown_questions[task])


def check_sets(columns: NDArray[np.int64], offsets: NDArray[np.int64], plan: RunPlan, what: str) -> Sets:
    """Sets of columns as tuples: discrete columns in order, each set once, no larger than the plan allows."""
    if len(offsets) - 1 > MOST_SETS_AT_ONCE or len(columns) > MOST_SETS_AT_ONCE * plan.columns_per_table:
        raise ProtocolError(f"{what} asks for too many tables at once")
    flat: list[int] = columns.tolist()
    bounds: list[int] = offsets.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != len(flat) or any(a > b for a, b in pairwise(bounds)):
        raise ProtocolError(f"{what} does not say where its tables begin and end")
    cards: list[int] = plan.codebook.schema.cardinalities.tolist()
    sets = tuple(tuple(flat[a:b]) for a, b in pairwise(bounds))
    named = {plan.places(names) for names in plan.sets}
    cells = 0
    for some in sets:
        if named and some not in named:
            raise ProtocolError(f"{what} is not in the plan: it names other tables")
        if len(some) > plan.columns_per_table:
            raise ProtocolError(
                f"{what} is not in the plan: it allows tables of {plan.columns_per_table} columns"
            )
        if any(not 0 <= column < len(cards) for column in some):
            raise ProtocolError(f"{what} names a column that the plan does not have")
        if any(a >= b for a, b in pairwise(some)):
            raise ProtocolError(f"{what} does not name the columns of a table in order, each once")
        size = prod(cards[column] for column in some)
        if size == 0:
            raise ProtocolError(f"{what} asks to count a continuous column")
        if size > plan.cells_per_table:
            raise ProtocolError(
                f"{what} is not in the plan: it allows tables of {plan.cells_per_table} cells"
            )
        cells += size
    if len(set(sets)) < len(sets):
        raise ProtocolError(f"{what} names a table twice")
    if cells > MOST_CELLS_AT_ONCE:
        raise ProtocolError(f"{what} asks for too many cells at once")
    return sets


class Conversation:
    """A digest of all questions so far, in order, whether their answers are summed or shown.

    >>> one, other = Conversation(), Conversation()
    >>> for question in (PlanQuestion("moments"), PlanQuestion("counts", ((0,),))):
    ...     one.add(question.encode())
    >>> other.add(PlanQuestion("counts", ((0,),)).encode())
    >>> one.label == other.label
    False
    """

    def __init__(self) -> None:
        self._digest = b""

    def add(self, question: bytes) -> None:
        """Add a question, in the bytes in which it was sent."""
        self._digest = sha256(self._digest + sha256(question).digest()).digest()

    @property
    def label(self) -> str:
        """The label under which answers to the last question are summed."""
        return self._digest.hex()
