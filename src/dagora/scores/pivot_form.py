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

from dagora.scores.gaussian import FlatFamilies, family_pivots
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
