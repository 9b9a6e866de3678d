"""Tasks whose answers a site shows as its own, by name, and the methods that ask for them.

Sums are not here: whatever is summed is one of the questions of a plan (see `row_sums.answers`). A site
answers a task only if its owner's policy names the method under `shows`.
"""

from __future__ import annotations

from dataclasses import dataclass

from dagora.loading import load
from dagora.parties.horizontal.session.federation import Answer, Question, Site, Task


@dataclass(frozen=True)
class ShownTask:
    """A task's name, what it shows, the methods that need it, and the function that computes it."""

    name: str
    shows: str
    methods: tuple[str, ...]
    place: str

    def load(self) -> Task:
        """Return the task; its module is imported only when the task is first asked for."""

        def answer(site: Site, question: Question) -> Answer:
            found: Answer = load(self.place)(site, question)
            return found

        return answer


COVARIANCE = "numbers from which the covariance of this site's rows can be computed"
LEARNERS = "dagora.parties.horizontal.learners"
SHOWN_TASKS = (
    ShownTask(
        "own-squares",
        "sums of squares about this site's own means",
        ("admm", "admm-mlp"),
        "dagora.parties.horizontal.statistics.columns:own_squares",
    ),
    ShownTask("admm-step", COVARIANCE, ("admm",), f"{LEARNERS}.admm_site:step"),
    ShownTask("admm-loss", COVARIANCE, ("admm",), f"{LEARNERS}.admm_site:loss"),
    ShownTask("admm-mlp-step", COVARIANCE, ("admm-mlp",), f"{LEARNERS}.admm_mlp_site:step"),
    ShownTask("admm-mlp-loss", COVARIANCE, ("admm-mlp",), f"{LEARNERS}.admm_mlp_site:loss"),
    ShownTask(
        "local-weights",
        "the weights that this site learns from its own rows",
        ("vote", "average", "best"),
        f"{LEARNERS}.baselines:local_weights",
    ),
)

TASKS: dict[str, Task] = {task.name: task.load() for task in SHOWN_TASKS}


def shown_by(method: str) -> tuple[str, ...]:
    """The tasks that a method needs to be shown.

    >>> shown_by("notears"), shown_by("vote")
    ((), ('local-weights',))
    """
    return tuple(task.name for task in SHOWN_TASKS if method in task.methods)
