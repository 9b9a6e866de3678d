"""Everything that a coordinator may ask of a site, by name: a site answers these tasks and no others.

The coordinator sees each site's own answers to tasks that are `shown`, and only the sums of all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dagora.loading import load
from dagora.parties.horizontal.session.federation import Question, Site, Task


@dataclass(frozen=True)
class TaskEntry:
    """A task's name, what it reveals, and the function that computes it."""

    name: str
    gives: str
    place: str
    shown: bool = False

    def load(self) -> Task:
        """Return the task; its module is imported only when the task is first asked for."""

        def answer(site: Site, question: Question) -> Any:  # noqa: ANN401
            return load(self.place)(site, question)

        return answer


ENTRIES = (
    TaskEntry(
        "schema",
        "names, kinds and levels of the columns",
        "dagora.parties.horizontal.statistics.agreement:show_schema",
        shown=True,
    ),
    TaskEntry("adopt", "nothing", "dagora.parties.horizontal.statistics.agreement:adopt_schema", shown=True),
    TaskEntry(
        "size-and-orders",
        "number of rows, orders of size",
        "dagora.parties.horizontal.statistics.moments:size_and_orders",
    ),
    TaskEntry("cells", "joint counts", "dagora.parties.horizontal.statistics.secure_statistics:cells"),
    TaskEntry("sums", "sums of columns", "dagora.parties.horizontal.statistics.moments:sums"),
    TaskEntry("squares", "sums of squares", "dagora.parties.horizontal.statistics.moments:squares"),
    TaskEntry("products", "sums of products", "dagora.parties.horizontal.statistics.moments:products"),
    TaskEntry(
        "own-squares",
        "sums of squares about its own means",
        "dagora.parties.horizontal.statistics.columns:own_squares",
        shown=True,
    ),
    TaskEntry(
        "admm-step",
        "its weights and multipliers, which give its covariance",
        "dagora.parties.horizontal.learners.admm_site:step",
        shown=True,
    ),
    TaskEntry(
        "admm-loss",
        "its part of the loss of given weights",
        "dagora.parties.horizontal.learners.admm_site:loss",
        shown=True,
    ),
    TaskEntry(
        "admm-mlp-step",
        "the networks fitted to its rows, and multipliers",
        "dagora.parties.horizontal.learners.admm_mlp_site:step",
        shown=True,
    ),
    TaskEntry(
        "admm-mlp-loss",
        "its part of the loss of given networks",
        "dagora.parties.horizontal.learners.admm_mlp_site:loss",
        shown=True,
    ),
    TaskEntry(
        "local-weights",
        "weights learned from its own rows",
        "dagora.parties.horizontal.learners.baselines:local_weights",
        shown=True,
    ),
)

TASKS: dict[str, Task] = {entry.name: entry.load() for entry in ENTRIES}
SHOWN = frozenset(entry.name for entry in ENTRIES if entry.shown)
