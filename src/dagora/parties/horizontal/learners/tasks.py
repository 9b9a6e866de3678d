"""Tasks whose answers a site shows as its own, by name.

Sums are not here: they are questions of a plan (see `session.row_sums`). The plan lists the tasks that each
method needs (`plan.SHOWN_BY`), and a site answers a task only if its owner's policy names the method under
`shows`.
"""

from __future__ import annotations

from collections.abc import Mapping

from dagora.base.loading import load
from dagora.parties.horizontal.plan.plan import SHOWN_BY, WEIGHT_MODELS
from dagora.parties.horizontal.session.federation import Answer, Site, Task, TaskQuestion

GRAPH = "local-graph"
LEARNERS = "dagora.parties.horizontal.learners"
PLACES = {
    "own-squares": f"{LEARNERS}.columns:own_squares",
    "admm-step": f"{LEARNERS}.admm_site:step",
    "admm-loss": f"{LEARNERS}.admm_site:loss",
    "admm-mlp-step": f"{LEARNERS}.admm_mlp_site:step",
    "admm-mlp-loss": f"{LEARNERS}.admm_mlp_site:loss",
    "admm-lagged-step": f"{LEARNERS}.admm_site:lagged_step",
    "admm-lagged-loss": f"{LEARNERS}.admm_site:lagged_loss",
    "local-weights": f"{LEARNERS}.local_learning:local_weights",
    GRAPH: f"{LEARNERS}.local_learning:local_graph",
}


def task_at(place: str) -> Task:
    """A task whose module is imported only when it is first asked for."""

    def answer(site: Site, question: TaskQuestion) -> Answer:
        found: Answer = load(place)(site, question)
        return found

    return answer


TASKS: dict[str, Task] = {name: task_at(place) for name, place in PLACES.items()}


def tasks_to_show(method: str, settings: Mapping[str, object] | None = None) -> tuple[str, ...]:
    """The tasks that a method needs to be shown; a vote asks for graphs or for weights, as its model says.

    >>> tasks_to_show("notears"), tasks_to_show("vote"), tasks_to_show("vote", {"model": "pc"})
    ((), ('local-weights',), ('local-graph',))
    """
    tasks = SHOWN_BY.get(method, ())
    if GRAPH not in tasks:
        return tasks
    asked = (settings or {}).get("model", WEIGHT_MODELS[0]) not in WEIGHT_MODELS
    return tuple(task for task in tasks if (task == GRAPH) is asked)
