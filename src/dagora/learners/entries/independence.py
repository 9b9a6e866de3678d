"""Tests of independence, with and without hidden causes."""

from __future__ import annotations

from dataclasses import replace

from dagora.base.options import Option
from dagora.learners.method import NO_PARENT_LIMIT, Method

TEST = Option(
    "test",
    "text",
    "auto",
    "fisher-z for normal columns; x2, g2 or g2-seen for discrete ones (g2 counts all degrees of "
    "freedom, g2-seen those of levels seen); for nonlinear relations features, which needs "
    "only sums, or on rows hsic, dcov or gcm; for both kinds cells, on rows, or mixed, which needs only "
    "sums; on a table of one kind these are fisher-z or x2, as auto is; for ordered levels trend, or latent, "
    "which also takes numbers by their ranks",
    choices=(
        "auto",
        "fisher-z",
        "x2",
        "g2",
        "g2-seen",
        "cells",
        "mixed",
        "features",
        "hsic",
        "dcov",
        "gcm",
        "latent",
        "trend",
    ),
    needs_rows=("cells", "hsic", "dcov", "gcm"),
)

LEVEL = Option(
    "alpha",
    "float",
    0.01,
    "level of the tests: a larger one keeps more edges",
    low=0.0,
    high=1.0,
    open_low=True,
)

MOST_GIVEN = Option("max_given", "int", None, "most variables that a test is given", low=0)

FOR_HIDDEN = (
    TEST,
    LEVEL,
    MOST_GIVEN,
    Option(
        "selection",
        "bool",
        False,
        "rows may have been selected by what is studied: a tail may then be a cause of that",
    ),
)


def kernel_pc(name: str, measure: str, learner: str) -> Method:
    """The entry of kernel PC with one of its tests."""
    return Method(
        name=name,
        summary=f"kernel PC: tests of smooth residuals by {measure}, for directions too; curved relations",
        takes="statistics",
        returns="cpdag",
        promise="the true class where every test is right; more directions where noise adds to curves",
        reference="Tillman, Gretton & Spirtes 2009",
        learner=f"dagora.learners.constraint.kernel_pc:{learner}",
        obeys=NO_PARENT_LIMIT,
        options=(
            Option("alpha", "float", 0.05, "level of the tests", low=0.0, high=1.0, open_low=True),
            MOST_GIVEN,
        ),
        needs_rows=True,
        by_tests=True,
    )


INDEPENDENCE = (
    Method(
        name="pc",
        summary="tests of independence given ever more variables, then directions from what separates",
        takes="statistics",
        returns="cpdag",
        promise="the true class where every test is right; wherever the columns stand, the same one",
        reference="Spirtes & Glymour 1991; Colombo & Maathuis 2014",
        learner="dagora.learners.constraint.pc:pc",
        obeys=NO_PARENT_LIMIT,
        options=(
            TEST,
            LEVEL,
            Option(
                "orientation",
                "text",
                "max",
                "by the separating set with the largest p-value, by the first one, or by all of them",
                choices=("max", "first", "conservative", "majority"),
            ),
            MOST_GIVEN,
        ),
        any_kind=True,
        by_tests=True,
        tests_seen_rows=True,
    ),
    Method(
        name="rfci",
        summary="as pc where causes may be hidden: a PAG; makes sure of its conclusions by a few more tests",
        takes="statistics",
        returns="pag",
        promise="every mark is right where every test is; there may be an edge that fci would remove",
        reference="Colombo, Maathuis, Kalisch & Richardson 2012; Zhang 2008",
        learner="dagora.learners.constraint.rfci:rfci",
        obeys=NO_PARENT_LIMIT,
        options=FOR_HIDDEN,
        any_kind=True,
        by_tests=True,
        instead_in_time="svar-rfci",
        tests_seen_rows=True,
    ),
    Method(
        name="fci",
        summary="as pc where causes may be hidden: a PAG; tests further sets, of which there can be many",
        takes="statistics",
        returns="pag",
        promise="the PAG of the truth where every test is right; wherever the columns stand, the same one",
        reference="Spirtes, Glymour & Scheines 2000; Zhang 2008; Colombo & Maathuis 2014",
        learner="dagora.learners.constraint.fci:fci",
        obeys=NO_PARENT_LIMIT,
        options=FOR_HIDDEN,
        any_kind=True,
        by_tests=True,
        instead_in_time="svar-rfci",
        tests_seen_rows=True,
    ),
    kernel_pc("kpc-hsic", "HSIC", "kpc_hsic"),
    replace(kernel_pc("kpc-dc", "distance covariance", "kpc_dc"), seldom=True),
    Method(
        name="dual-pc",
        summary="tests of partial correlations given few variables and given all but a few; Gaussian columns",
        takes="statistics",
        returns="cpdag",
        promise="a CPDAG: no tested set separates adjacent variables, some set separates every other pair",
        reference="Giudice, Kuipers & Moffa 2023; Spirtes, Glymour & Scheines 2000",
        learner="dagora.learners.constraint.dual_pc:dual_pc",
        obeys=("forbidden pairs",),
        options=(
            Option(
                "alpha", "float", 0.05, "significance level of each test", low=0.0, high=1.0, open_low=True
            ),
        ),
        by_tests=True,
        instead_in_time="pc",
    ),
)
