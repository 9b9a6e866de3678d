"""The score of Gaussian-process networks: a family's log evidence, integrated over its hyperparameters.

A child is y = μ + f(parents) + ε with f ~ GP(0, k) and ε ~ N(0, σ²); columns are standardised. The kernel is
additive (eq. 17) or has first-order interactions (eq. 18), the priors are those of eq. 19. The log evidence
is estimated by `laplace` (a Gaussian at the mode), by `qmc` (importance sampling from there, with its error)
or by `bridge` (NUTS draws and bridge sampling, as in the paper). Giudice, Kuipers & Moffa 2023, "A Bayesian
take on Gaussian process networks".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.events import Watch, ignore_progress
from dagora.kernels.threads import Threads
from dagora.scores.gp.additive import Additive
from dagora.scores.gp.asking import Asking, above, side_by_side
from dagora.scores.gp.evidence_cache import Arrays, Details, Key, from_arrays, to_arrays
from dagora.scores.gp.fit import Fitter, GPFit, GPModel
from dagora.scores.gp.qmc import Evidence, estimate, mixture_at, proposals_at, resample
from dagora.scores.gp.root import root_evidence
from dagora.scores.local_score import Family, ScoreCapabilities, ScoreStorage
from dagora.scores.usable_moments import gaussian_moments
from dagora.stats.capabilities import capabilities_of
from dagora.stats.statistics import Statistics

Array = NDArray[np.float64]

ESTIMATORS = ("qmc", "laplace", "bridge")
KERNELS = ("additive", "interactions")
# Points of the importance sampling with a length-scale below this and below a quarter of every mode's are
# given the density zero: they are the most expensive, and the prior has 0.3 % of its mass there, the
# posterior far less.
TAIL = 0.25
RESAMPLED = 128  # points from which hyperparameters are drawn
# A point this many nats above the modes shows that the climbs missed one.
MISSED = 0.5

PUBLISHED_KERNEL = (
    "score gp2 with the kernel of the code published by Giudice et al. (2023), τ₁² and τ₂τ₁⁴ in place of τ₁ "
    "and τ₂ of their equation 18"
)

DECIMALS = 10  # of standardised columns


class GaussianProcessScore:
    """Log evidence of Gaussian-process families; deterministic, and computed once per family."""

    def __init__(
        self,
        statistics: Statistics,
        *,
        kernel: str = "additive",
        estimator: str = "qmc",
        points: int = 256,
        published: bool = False,
    ) -> None:
        if kernel not in KERNELS:
            raise OptionError(f"kernel is one of {', '.join(KERNELS)}, not '{kernel}'")
        if estimator not in ESTIMATORS:
            raise OptionError(f"estimator is one of {', '.join(ESTIMATORS)}, not '{estimator}'")
        if points < 32:
            raise OptionError(f"points must be at least 32, not {points}")
        owner = "the score gp" if kernel == "additive" else "the score gp2"
        if statistics.n_rows < 3:
            there = "there is 1" if statistics.n_rows == 1 else f"there are {statistics.n_rows}"
            raise DataError(f"{owner} needs at least 3 rows, but {there}")
        self._moments = gaussian_moments(statistics, owner)
        self.schema = statistics.schema
        self._columns = standardised_columns(statistics)
        self._fitter = Fitter(model_of(kernel, self._columns, published=published))
        self._settings = (kernel, estimator, points, published)
        self._estimator = estimator
        self._points = points
        self._jobs = capabilities_of(statistics).jobs
        self._known: dict[Key, Details] = {}

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""
        return len(self._columns)

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Blocks of expensive families with errors, stored results, and moments of the columns as given."""
        return ScoreCapabilities(
            block=self.block,
            moments=self._moments,
            is_expensive=True,
            storage=ScoreStorage(self._fingerprint, self._export, self._load),
            standard_errors=self._standard_errors,
            messages=lambda: [PUBLISHED_KERNEL] if self._settings[-1] else [],
        )

    def families(self, families: Sequence[Family]) -> Array:
        """Scores of many families."""
        keys = [(int(child), tuple(sorted(map(int, parents)))) for child, parents in families]
        self._learn(keys, ignore_progress)
        return np.array([self._known[key].log_score for key in keys])

    def block(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
    ) -> Array:
        """Scores of many families of one size."""
        keys = [
            (child, tuple(sorted(row)))
            for child, row in zip(children.tolist(), parents.tolist(), strict=True)
        ]
        self._learn(keys, watch)
        return np.array([self._known[key].log_score for key in keys])

    def details(self, family: Family) -> Details:
        """A family's score with its error and its best mode: length-scales, (amplitudes,) σ."""
        self.families([family])
        return self._known[int(family[0]), tuple(sorted(map(int, family[1])))]

    def parameter_draws(self, family: Family, number: int) -> Array:
        """Hyperparameters of a family with parents drawn from their posterior, as `Details.mode` has them."""
        child, places = np.array([int(family[0])]), np.array([sorted(map(int, family[1]))])
        (fit,) = self._fitter.fit(child, places)

        def ask(which: NDArray[np.int64], points: Array) -> Array:
            return self._fitter.model.log_density(child[which], places[which], points)

        size = places.shape[1]
        (found,) = side_by_side([above(floor_of(fit, size), size, self._resample(fit, number))], ask)
        return np.asarray(np.exp(found))

    def _resample(self, fit: GPFit, number: int) -> Asking[Array]:
        proposals = yield from proposals_at(fit.modes.points, fit.modes.values, fit.modes.precisions)
        return (yield from resample(mixture_at(proposals, fit.log_evidences), RESAMPLED, number))

    def _standard_errors(self) -> dict[Family, float]:
        """Standard errors, in nats, of the families that were estimated so far with one."""
        return {
            key: details.standard_error
            for key, details in self._known.items()
            if key[1] and np.isfinite(details.standard_error)
        }

    def _fingerprint(self) -> str:
        """A hash of columns and settings: scores with the same fingerprint give the same numbers."""
        settings = repr((self.schema.names, self._columns.shape, self._settings)).encode()
        return sha256(settings + self._columns.tobytes()).hexdigest()

    def _export(self) -> dict[str, NDArray[np.generic]]:
        """Everything computed so far, as arrays."""
        return to_arrays(self._known, self._fitter.alone)

    def _load(self, arrays: Arrays) -> int:
        """Load the results of a score with the same fingerprint; return the number of families."""
        known, alone = from_arrays(arrays)
        self._known.update(known)
        self._fitter.alone.update(alone)
        return len(known)

    def _learn(self, keys: Sequence[Key], watch: Watch) -> None:
        """Score the families that are not known yet; the groups do not depend on the number of threads."""
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        total, done = len(keys), len(keys) - len(fresh)
        if not fresh:
            watch(total, total)
            return
        most = self._fitter.model.families_at_once
        with Threads(self._jobs) as threads:
            pairs = [(child, parent) for child, parents in fresh for parent in parents]
            self._fitter.prepare(pairs, threads, lambda: watch(done, total))
            for same in by_size(fresh):
                groups = [same[start : start + most] for start in range(0, len(same), most)]
                # A group is stored as a whole: after an interruption the rest starts with a new group.
                for group, found in zip(groups, threads.one_by_one(self._score_group, groups), strict=True):
                    self._known.update(zip(group, found, strict=True))
                    done += len(group)
                    watch(done, total)

    def _score_group(self, keys: Sequence[Key]) -> list[Details]:
        """Families of one size with their scores."""
        if not keys[0][1]:
            return [self._root(child) for child, _ in keys]
        children = np.array([child for child, _ in keys], dtype=np.int64)
        parents = np.array([parents for _, parents in keys], dtype=np.int64)
        fits = self._fitter.fit(children, parents)
        return side_by_side(
            [self._estimate(key, fit) for key, fit in zip(keys, fits, strict=True)],
            lambda which, points: self._fitter.model.log_density(children[which], parents[which], points),
        )

    def _root(self, child: int) -> Details:
        """A column without parents."""
        column = self._columns[:, child]
        return Details(
            root_evidence(len(column), float(column.sum()), float(column @ column)), 0.0, 0.0, 0, (), 1
        )

    def _estimate(self, key: Key, fit: GPFit) -> Asking[Details]:
        evidence = yield from self._evidence(key, fit)
        if evidence.best is not None and evidence.best_value > fit.modes.values.max() + MISSED:
            fit = self._fitter.improve(key[0], np.array(key[1]), fit, evidence.best)
            evidence = yield from self._evidence(key, fit)
        return Details(
            evidence.log_score,
            evidence.standard_error,
            evidence.ess,
            evidence.points,
            tuple(np.exp(fit.modes.points[0]).tolist()),
            len(fit.modes.points),
        )

    def _evidence(self, key: Key, fit: GPFit) -> Asking[Evidence]:
        if self._estimator == "laplace":
            return Evidence(float(fit.log_evidences[0]), float("nan"), 0.0, 0)
        if self._estimator == "bridge":
            from dagora.scores.gp.bridge import bridge

            return bridge(self._fitter.model, np.array([key[0]]), np.array([key[1]]), fit.modes)
        size = len(key[1])
        return (yield from above(floor_of(fit, size), size, self._importance_sample(fit)))

    def _importance_sample(self, fit: GPFit) -> Asking[Evidence]:
        """Importance sampling from proposals at the modes."""
        proposals = yield from proposals_at(fit.modes.points, fit.modes.values, fit.modes.precisions)
        return (yield from estimate(mixture_at(proposals, fit.log_evidences), self._points))


def floor_of(fit: GPFit, parents: int) -> float:
    """The logarithm of the length-scale below which points get the density zero."""
    return float(min(np.log(TAIL), fit.modes.points[:, :parents].min() - np.log(4.0)))


def standardised_columns(statistics: Statistics) -> Array:
    """Columns with mean zero and sample variance one; the rows are asked for once.

    They are rounded, so that the rounding errors that depend on units do not reach an optimiser.
    """
    table = statistics.rows()
    columns = np.column_stack([table.values(i) for i in range(len(table.schema))])
    centred = columns - columns.mean(axis=0)
    # Twice, so that the rounding error of a large mean is removed.
    centred -= centred.mean(axis=0)
    scaled: Array = np.round(centred / centred.std(axis=0, ddof=1), DECIMALS)
    return scaled


def model_of(kernel: str, columns: Array, *, published: bool) -> GPModel:
    """The kernel's model of standardised columns."""
    if kernel == "additive":
        return Additive(columns)
    from dagora.scores.gp.interactions import Interactions

    return Interactions(columns, published=published)


def by_size(keys: Sequence[Key]) -> Iterator[list[Key]]:
    """Yield families of one number of parents, few parents first."""
    for size in sorted({len(parents) for _, parents in keys}):
        yield [key for key in keys if len(key[1]) == size]


def gp(statistics: Statistics, *, estimator: str = "qmc", points: int = 256) -> GaussianProcessScore:
    """The additive kernel's score."""
    return GaussianProcessScore(statistics, estimator=estimator, points=points)


def gp2(
    statistics: Statistics, *, estimator: str = "qmc", points: int = 256, published: bool = False
) -> GaussianProcessScore:
    """The score of the kernel with first-order interactions."""
    return GaussianProcessScore(
        statistics, kernel="interactions", estimator=estimator, points=points, published=published
    )
