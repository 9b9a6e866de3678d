"""Everything that a coordinator may ask of a site, by name: a site answers these tasks and no others.

`shown` says whose answers the coordinator sees as they are; of the others it sees sums alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

from dagora.parties.horizontal.federation import Question, Site, Task

HERE = "dagora.parties.horizontal"


@dataclass(frozen=True)
class TaskEntry:
    """A task's name, what it gives away, and where it is written."""

    name: str
    gives: str
    place: str
    shown: bool = False

    def load(self) -> Task:
        """Import the task when it is first asked for: a site that only counts needs no neural networks."""

        def answer(site: Site, question: Question) -> Any:  # noqa: ANN401
            module, function = self.place.split(":")
            return cast("Callable[..., Any]", getattr(import_module(f"{HERE}.{module}"), function))(
                site, question
            )

        return answer


ENTRIES = (
    TaskEntry("schema", "names, kinds and levels of the columns", "agreement:show_schema", shown=True),
    TaskEntry("adopt", "nothing", "agreement:adopt_schema", shown=True),
    TaskEntry("size-and-orders", "number of rows, orders of size", "moments:size_and_orders"),
    TaskEntry("cells", "joint counts", "statistics:cells"),
    TaskEntry("sums", "sums of columns", "moments:sums"),
    TaskEntry("squares", "sums of squares", "moments:squares"),
    TaskEntry("products", "sums of products", "moments:products"),
    TaskEntry("squares-about-centre", "sums of squares", "columns:squares_about_centre"),
    TaskEntry("admm-step", "one round of ADMM", "admm_site:step"),
    TaskEntry("admm-loss", "loss of given weights", "admm_site:loss"),
    TaskEntry("admm-mlp-step", "one round of ADMM on networks", "admm_mlp_site:step"),
    TaskEntry("admm-mlp-loss", "loss of given networks", "admm_mlp_site:loss"),
    TaskEntry("local-weights", "weights learned from its own rows", "baselines:local_weights", shown=True),
)

TASKS: dict[str, Task] = {entry.name: entry.load() for entry in ENTRIES}
SHOWN = frozenset(entry.name for entry in ENTRIES if entry.shown)
