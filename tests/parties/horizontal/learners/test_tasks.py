"""The tasks that production serves: what a site shows as its own is listed here, and nowhere else."""

from dagora.base.loading import load
from dagora.learners.registry import METHODS
from dagora.parties.horizontal.learners.tasks import PLACES, TASKS, tasks_to_show
from dagora.parties.horizontal.plan.plan import SHOWN_BY
from dagora.parties.horizontal.session.row_sums import SUMMED


def test_only_these_are_shown():
    """A task that is added here on purpose needs a line in docs/federated.md on what the coordinator sees."""
    assert set(TASKS) == {
        "own-squares",
        "admm-step",
        "admm-loss",
        "admm-mlp-step",
        "admm-mlp-loss",
        "local-weights",
        "local-graph",
        "admm-lagged-step",
        "admm-lagged-loss",
    }


def test_only_these_are_summed():
    assert set(SUMMED) == {"counts", "moments", "basis", "indicators", "lagged", "fourth", "weights"}


def test_every_task_is_there_and_needed_by_a_method():
    assert all(callable(load(place)) for place in PLACES.values())
    assert {task for tasks in SHOWN_BY.values() for task in tasks} == set(TASKS)


def test_methods_that_take_a_federation_show_something_and_no_others():
    for method in METHODS:
        assert bool(tasks_to_show(method.name)) is (method.takes == "federation"), method.name
