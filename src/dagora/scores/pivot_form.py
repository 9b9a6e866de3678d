"""Scores that need two numbers of a family: ln det S_PP of its parents, the residual r(x | P) of its child.

s(x, P) = child[x] + size[|P|] + determinant · ln det S_PP + residual[|P|] · ln r(x | P),

where S is a matrix like a covariance and r(x | P) = S_xx − S_xP S_PP⁻¹ S_Px. BIC and BGe of linear-Gaussian
families have this form. A search that knows it can score the families of a whole tree within one kernel:
adding a parent to P is one step of a Cholesky factor.

Where variables were set from outside, families of different children may need different rows: so there are
several matrices, and `group[x]` says which is that of x.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined
from dagora.scores.gaussian import COLLINEAR, FlatFamilies, family_pivots
from dagora.scores.local_score import Floats, PivotForm


def one_group(matrix: Floats, child: Floats, size: Floats, determinant: float, residual: Floats) -> PivotForm:
    """The form where one matrix serves all children; `size` and `residual` begin with no parents."""
    group = np.zeros(len(child), dtype=np.int64)
    square = np.ascontiguousarray(matrix, dtype=np.float64)
    return PivotForm(group, square[None], child, size[None], np.array([determinant]), residual[None])


def join_groups(forms: Sequence[PivotForm], group: NDArray[np.int64]) -> PivotForm:
    """One form of several, each with one group: that of child x is `forms[group[x]]`."""
    child = np.array([forms[part].child[x] for x, part in enumerate(group.tolist())])
    return PivotForm(
        group,
        np.concatenate([form.matrix for form in forms]),
        child,
        np.concatenate([form.size for form in forms]),
        np.concatenate([form.determinant for form in forms]),
        np.concatenate([form.residual for form in forms]),
    )


def form_scores(form: PivotForm, families: FlatFamilies) -> Floats:
    """Scores of families by a form with one group."""
    parents, residuals = family_pivots(form.matrix[0], families)
    sizes = families.sizes
    scores: Floats = (
        form.child[families.children]
        + form.size[0, sizes]
        + form.determinant[0] * parents
        + form.residual[0, sizes] * np.log(residuals)
    )
    return scores


@inlined
def score_without_fit(form: PivotForm, child: int, size: int, log_determinant: float) -> float:
    """The score of a child with `size` parents, less what depends on the residual."""
    group = form.group[child]
    return float(form.child[child] + form.size[group, size] + form.determinant[group] * log_determinant)


@inlined
def family_score(form: PivotForm, child: int, size: int, log_determinant: float, residual: float) -> float:
    """The score of a child with `size` parents."""
    group = form.group[child]
    least = COLLINEAR * form.matrix[group, child, child]
    fit = form.residual[group, size] * np.log(max(residual, least))
    return float(score_without_fit(form, child, size, log_determinant) + fit)


@inlined
def cost_of(form: PivotForm, group: int, size: int, determinant: float, residual: float) -> float:
    """A number that orders sets of one size as their scores do, but the best is the lowest.

    It is the residual where determinants do not matter, so that no logarithm is taken. `determinant` is the
    factor by which that of the parents' block differs from a set that all are compared with.
    """
    ratio = form.determinant[group]
    if ratio == 0.0:
        return residual
    return float(np.log(residual) + ratio / form.residual[group, size] * np.log(determinant))


@inlined
def highest_cost(form: PivotForm, child: int, size: int, log_determinant: float, score: float) -> float:
    """The cost of sets that have this score; `log_determinant` is that of the set they are compared with."""
    group = form.group[child]
    missing = score - score_without_fit(form, child, size, log_determinant)
    cost = missing / form.residual[group, size]
    return float(np.exp(cost) if form.determinant[group] == 0.0 else cost)
