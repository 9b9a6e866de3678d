"""What all questions have in common with which a site is asked to learn from its own rows alone."""

from __future__ import annotations

import numpy as np

from dagora.base.errors import DagoraError
from dagora.base.events import Budget
from dagora.graph.knowledge import Knowledge
from dagora.learners.optimise.acyclic_support import refuse_parent_limit
from dagora.learners.run import Run
from dagora.parties.horizontal.checked_fields import real, refuse, whole
from dagora.parties.horizontal.session.federation import Federation, Question

# What a coordinator may ask a site for: larger numbers mean nothing, or overflow.
LARGEST_SEED = (1 << 128) - 1
NO_LIMIT = -1.0


def circumstances(federation: Federation, run: Run) -> Question:
    """The fields that `read_run` reads."""
    # Sites may share a machine, so each gets its share of the time.
    left = run.budget.left
    seconds = left / len(federation.parties) if np.isfinite(left) else NO_LIMIT
    return {"knowledge": run.knowledge.to_dict(), "seconds": seconds, "seed": run.seed}


def read_run(task: str, question: Question, names: tuple[str, ...]) -> Run:
    """Knowledge, time and seed of a question, checked; `seconds` of −1 are no limit."""
    knowledge = read_knowledge(task, question["knowledge"], names)
    seconds = real(task, question, "seconds", low=NO_LIMIT)
    seed = whole(task, question, "seed", 0, LARGEST_SEED)
    return Run(knowledge, seed, Budget(None if seconds < 0 else seconds))


def read_knowledge(task: str, content: object, names: tuple[str, ...]) -> Knowledge:
    """Knowledge about the columns of this site that its learners can obey."""
    if not isinstance(content, dict):
        raise refuse(task, "'knowledge' must be a dict")
    try:
        knowledge = Knowledge.from_dict(content)
        knowledge.check_nodes(names)
        refuse_parent_limit(knowledge, task)
    except (DagoraError, TypeError, ValueError):
        raise refuse(task, "'knowledge' is not valid for the columns of this site") from None
    return knowledge


def ending(run: Run, message: str) -> tuple[str, str]:
    """Status and message."""
    if run.budget.exhausted:
        return "time-limit", f"{message}; sites stopped early: {run.budget.reason}"
    return "finished", message
