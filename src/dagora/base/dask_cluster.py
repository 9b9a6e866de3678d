"""A Dask cluster that runs already: connect to it, and let its workers do many independent tasks.

What all tasks have in common is sent once, as a task of its own: workers hand it on to each other, and where
all that had it are lost, Dask makes it again. Dask also repeats the tasks of a worker that is lost.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from pkgutil import resolve_name
from typing import Any, TypeVar

from dagora.base.addresses import refuse_password
from dagora.base.budget import Budget
from dagora.base.errors import DagoraError, OptionError
from dagora.base.executor import answer_questions, pass_over
from dagora.base.extras import DISTRIBUTED
from dagora.base.version import __version__
from dagora.base.wording import option

Question = TypeVar("Question")
Answer = TypeVar("Answer")

# How long to wait for the scheduler.
PATIENCE = "10s"
# Tasks handed out for each thread of the workers: the next one is there when one is finished.
AHEAD = 2
# What an address of a scheduler does not have: users, parameters, blanks.
BEYOND_A_PORT = re.compile(r"[@?#\s]")


def check_cluster(cluster: object) -> None:
    """Refuse what is no address and no client, before any data are read; nothing is connected yet."""
    DISTRIBUTED.require("a Dask cluster")
    from distributed import Client

    if isinstance(cluster, str) and cluster:
        refuse_password(cluster)
        if BEYOND_A_PORT.search(cluster):  # not repeated: it may be a secret
            raise OptionError(
                f"{option('dask')}: the address of a scheduler has a host and a port only, such as "
                "tcp://127.0.0.1:8786"
            )
        return
    if not isinstance(cluster, Client):
        raise OptionError(
            f"{option('dask')} takes the address of a scheduler, such as tcp://127.0.0.1:8786, or a client "
            f"of Dask, not {cluster!r}"
        )
    if cluster.asynchronous or cluster.status != "running":
        which = "asynchronous" if cluster.asynchronous else cluster.status
        raise OptionError(f"the client of Dask is {which}: make one by Client(ADDRESS)")


@contextmanager
def connect_cluster(cluster: Any) -> Iterator[Any]:  # noqa: ANN401 (Dask need not be installed)
    """A client of a cluster, for its address or for a client, which stays open then; None for None.

    Whatever Dask computes within the block runs on the cluster of a client that is made here.
    """
    if cluster is not None:
        check_cluster(cluster)
    if not isinstance(cluster, str):
        yield cluster
        return
    from distributed import Client

    try:
        client = Client(cluster, timeout=PATIENCE)
    except Exception as problem:
        raise OptionError(f"there is no Dask cluster at {cluster}: {one_line(problem)}") from None
    with client:
        yield client


@contextmanager
def workers_of(cluster: Any) -> Iterator[Workers]:  # noqa: ANN401
    """The workers of a cluster, for its address or for a client; what is under way at the end, they leave."""
    with connect_cluster(cluster) as client:
        workers = Workers(client)
        try:
            yield workers
        finally:
            workers.end()


class Workers:
    """The workers of a cluster, as those who answer questions."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401
        self._client = client
        self._executor = client.get_executor(pure=False)

    @property
    def threads(self) -> int:
        """The number of tasks that can run at a time now; workers may come and go."""
        return sum(self._client.nthreads().values())

    def share(self, content: object) -> Any:  # noqa: ANN401
        """Send content once; the handle returned stands for it in the arguments of tasks."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
            return self._client.submit(unpack, pickle.dumps(content, protocol=5), __version__, pure=False)

    def answers(
        self,
        ask: Callable[[Question], tuple[Any, ...]],
        questions: Iterable[Question],
        budget: Budget,
        meanwhile: Callable[[int], None] = pass_over,
    ) -> Iterator[tuple[Question, Any]]:
        """Questions with their answers as they come, until time is up.

        `ask` makes a task of a question: a function of ours and its arguments, among which may be what is
        shared.
        """

        def submit(question: Question) -> Future[Any]:
            function, *arguments = ask(question)
            future: Future[Any] = self._executor.submit(function, *arguments)
            return future

        try:
            yield from answer_questions(
                submit, questions, lambda: max(1, AHEAD * self.threads), budget, meanwhile
            )
        except DagoraError:
            raise
        except Exception as problem:
            raise task_error(problem, connected=self._client.status == "running") from None

    def end(self) -> None:
        """Cancel whatever is under way; where the cluster is lost, nothing is."""
        with suppress(Exception):
            self._executor.shutdown(wait=False)


def check_workers(client: Any) -> None:  # noqa: ANN401
    """Refuse workers with another dagora, before they are sent anything that another one may not know."""
    found = client.run(resolve_name, "dagora.base.version:__version__", on_error="return")
    for version in found.values():
        if isinstance(version, Exception):
            raise OptionError(f"workers of the Dask cluster have no dagora: install dagora {__version__}")
        check_version(__version__, version)


def task_error(problem: Exception, *, connected: bool) -> DagoraError:
    """The error for a task that gave no answer."""
    if type(problem).__name__ == "KilledWorker":
        return DagoraError(
            "every worker of the Dask cluster that took one of the tasks ended without an answer (out of "
            "memory?)"
        )
    if isinstance(problem, CancelledError | OSError) or not connected:
        return DagoraError("the Dask cluster was lost: its scheduler ended, or the work was cancelled there")
    return DagoraError(f"the Dask cluster failed: {type(problem).__name__}: {one_line(problem)}")


def one_line(problem: Exception) -> str:
    """An error's text in one line."""
    return " ".join(str(problem).split())


# --- what runs on a worker --------------------------------------------------------------------------------


def check_version(wanted: str, own: str) -> None:
    """Refuse a worker that has another version than the process that asks it."""
    if wanted != own:
        raise OptionError(f"the workers of the Dask cluster have dagora {own}, not {wanted}")


def same_version(version: str, work: Callable[..., Answer], *arguments: Any) -> Answer:  # noqa: ANN401
    """Work on a worker, which must have the same version of dagora."""
    check_version(version, __version__)
    return work(*arguments)


def unpack(packed: bytes, version: str) -> Any:  # noqa: ANN401
    """Unpack shared content on a worker, which must have the same version of dagora."""
    check_version(version, __version__)
    return pickle.loads(packed)  # noqa: S301 - sent by the client, whom workers obey anyway


class TaskBudget(Budget):
    """The time of a task on a worker: also over when the task was cancelled, or its client is gone."""

    def __init__(self, seconds: float | None = None) -> None:
        from distributed import get_worker

        super().__init__(seconds)
        worker = get_worker()
        self._tasks = worker.state.tasks
        self._key = worker.get_current_task()

    @property
    def left(self) -> float:
        """Seconds left; zero when nobody waits for the answer any more."""
        task = self._tasks.get(self._key)
        return 0.0 if task is None or task.state == "cancelled" else super().left
