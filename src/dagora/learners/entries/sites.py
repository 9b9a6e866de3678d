"""Methods over sites whose rows are never together."""

from __future__ import annotations

from dataclasses import replace

from dagora.base.extras import JAX
from dagora.base.options import Option
from dagora.learners.entries.independence import INDEPENDENCE
from dagora.learners.entries.nongaussian import NONGAUSSIAN
from dagora.learners.entries.policies import POLICIES
from dagora.learners.entries.searches import SEARCHES
from dagora.learners.entries.time import IN_TIME
from dagora.learners.entries.weights import WEIGHTS
from dagora.learners.method import NO_PARENT_LIMIT, Method

ADMM = (
    Option(
        "published",
        "bool",
        False,
        "algorithm 1 of the paper: penalties grow every round, residuals do not stop it; the result says "
        "what is not as there",
    ),
    Option(
        "centre",
        "text",
        None,
        "centre the columns at the mean over all sites (global), at each site's own mean (local), or not; "
        "without it, global; published has its own",
        choices=("global", "local", "none"),
    ),
    Option("max_rounds", "int", None, "stop after this many rounds", low=1),
)

AGREED = Option(
    "tolerance",
    "float",
    None,
    "the sites agree when residuals are this small; without it, 0.001",
    low=0.0,
    open_low=True,
)

PENALISED = (
    Option("lambda1", "float", 0.01, "L1 penalty on the weights at each site", low=0.0),
    Option("threshold", "float", 0.3, "weights of smaller size are dropped", low=0.0),
)

SITE_ALONE = (
    *PENALISED,
    Option("model", "text", "linear", "model that each site fits", choices=("linear", "mlp")),
)

# Methods that a site may learn a graph by, alone, for a vote: those for one table that end in edges.
ALONE = tuple(
    method
    for method in (*SEARCHES, *POLICIES, *WEIGHTS, *INDEPENDENCE, *NONGAUSSIAN)
    if method.returns != "pag" and not method.in_time
)
VOTERS = tuple(method.name for method in ALONE)
OF_ANY_KIND = tuple(method.name for method in ALONE if method.any_kind or not method.own_objective)

SITES = (
    Method(
        name="admm",
        summary="NOTEARS over sites, which agree on common weights round by round",
        takes="federation",
        returns="dag",
        promise="acyclic weights that all sites agree on; shows the coordinator the covariance of every site",
        reference="Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.admm:admm",
        obeys=NO_PARENT_LIMIT,
        options=(
            Option("lambda1", "float", 0.01, "L1 penalty on the weights", low=0.0),
            Option("threshold", "float", 0.3, "weights of smaller size are dropped", low=0.0),
            *ADMM,
            replace(AGREED, summary=f"{AGREED.summary}; not with published"),
        ),
    ),
    Method(
        name="admm-mlp",
        summary="NOTEARS-MLP over sites, which agree on common neural networks round by round",
        takes="federation",
        returns="dag",
        promise="a DAG from networks that all sites agree on; shows the coordinator those of every site",
        reference="Ng & Zhang 2022; Zheng, Dan, Aragam, Ravikumar & Xing 2020",
        learner="dagora.parties.horizontal.learners.admm_mlp:admm_mlp",
        obeys=NO_PARENT_LIMIT,
        needs=(JAX,),
        options=(
            Option(
                "lambda1",
                "float",
                None,
                "penalty on the weights of the first layer; without it, 0.01, or 0.001 if published",
                low=0.0,
            ),
            Option(
                "lambda2",
                "float",
                None,
                "ridge penalty on all weights; without it, 0.01, or none if published",
                low=0.0,
            ),
            Option("threshold", "float", 0.3, "edges weaker than this are dropped", low=0.0),
            Option("hidden", "int", 10, "sigmoid units per network", low=1, high=1000),
            *ADMM,
            Option(
                "tolerance",
                "float",
                None,
                "the sites agree when residuals are this small; without it, 0.01; not with published",
                low=0.0,
                open_low=True,
            ),
        ),
    ),
    Method(
        name="admm-dynamic",
        summary="DYNOTEARS over sites that have series, which agree on common weights round by round",
        takes="federation",
        returns="dag",
        promise="no cycle within a step; shows the coordinator the covariance of windows of every site",
        reference="Ng & Zhang 2022; Pamfil et al. 2020",
        learner="dagora.parties.horizontal.learners.admm_dynamic:admm_dynamic",
        obeys=NO_PARENT_LIMIT,
        options=(*IN_TIME, Option("max_rounds", "int", None, "stop after this many rounds", low=1), AGREED),
        in_time=True,
    ),
    Method(
        name="vote",
        summary="each site learns alone, by NOTEARS or any method; keeps the edges that most found",
        takes="federation",
        returns="dag",
        promise="a baseline; every site's weights or graph are shown to the coordinator",
        reference="Na & Yang 2010; Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.baselines:vote",
        obeys=NO_PARENT_LIMIT,
        options=(
            *(replace(each, only_with=("model", ("linear", "mlp"))) for each in PENALISED),
            Option(
                "model",
                "text",
                "linear",
                "what each site fits: weights of NOTEARS (linear or mlp), or a graph by any method for one "
                "table, such as pc, ges, boss or auto, on BIC where it takes a score",
                choices=("linear", "mlp", *VOTERS),
                any_kind=OF_ANY_KIND,
            ),
            Option(
                "alpha",
                "float",
                0.01,
                "level of the tests",
                low=0.0,
                high=1.0,
                open_low=True,
                only_with=("model", tuple(method.name for method in ALONE if method.by_tests)),
            ),
        ),
    ),
    Method(
        name="average",
        summary="each site runs NOTEARS alone; averages their weights",
        takes="federation",
        returns="dag",
        promise="a baseline; every site's weights are shown to the coordinator",
        reference="Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.baselines:average",
        obeys=NO_PARENT_LIMIT,
        options=SITE_ALONE,
    ),
    Method(
        name="best",
        summary="each site runs NOTEARS alone; keeps the graph nearest to a known truth",
        takes="federation",
        returns="dag",
        promise="a baseline that needs the truth; every site's weights are shown to the coordinator",
        reference="Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.baselines:best",
        obeys=NO_PARENT_LIMIT,
        options=(
            *SITE_ALONE,
            Option("truth", "graph", None, "the true graph, by which the site is chosen", required=True),
        ),
    ),
)
