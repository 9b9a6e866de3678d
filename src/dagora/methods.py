"""The registry: every learner by name, what it takes, what it promises, where it comes from.

A new method adds an entry here; the command, the contract tests and `dagora methods` then know it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

from dagora.loading import load
from dagora.options import MEMORY, Option, find
from dagora.result import Outcome

Takes = Literal["score", "candidates", "statistics", "federation"]
Returns = Literal["dag", "cpdag"]


@dataclass(frozen=True)
class Method:
    """A learner's entry; `learner` is imported only when the method is used.

    `takes` says what the learner is given: a `score` (any LocalScore), the `candidates` of one, the
    `statistics` themselves, or the `federation` of sites behind them. `needs_equivalence` says that the
    score must not tell equivalent graphs apart, `needs_rows` that sums over the rows are not enough.
    """

    name: str
    summary: str
    takes: Takes
    returns: Returns
    promise: str
    reference: str
    learner: str
    options: tuple[Option, ...] = ()
    needs_equivalence: bool = False
    needs_rows: bool = False

    def load(self) -> Callable[..., Outcome]:
        """Import the learner."""
        return cast("Callable[..., Outcome]", load(self.learner))


RESTARTS = (
    Option(
        "start",
        "graph",
        None,
        "graph to start from (a file on the command line); without it, the empty graph",
    ),
    Option(
        "restarts", "int", 0, "climb again this many times from a disturbed copy of the best graph", low=0
    ),
    Option("perturb", "int", None, "random moves per restart (a tenth of the nodes, at least 2)", low=1),
    Option("max_steps", "int", None, "stop after this many moves", low=0),
)


ADMM = (
    Option("faithful", "bool", False, "the published schedule: growing penalties, no stop on residuals"),
    Option(
        "centre",
        "text",
        None,
        "where columns are centred: at the mean of all sites (global), of each site (local), or none",
        choices=("global", "local", "none"),
    ),
    Option("max_rounds", "int", None, "stop after this many rounds", low=1),
)

ALONE = (
    Option("lambda1", "float", 0.01, "price of a unit of weight at each site", low=0.0),
    Option("threshold", "float", 0.3, "smaller weights are dropped", low=0.0),
    Option("model", "text", "linear", "what each site learns", choices=("linear", "mlp")),
)

METHODS = (
    Method(
        name="hill-climb",
        summary="greedy search over single edges, from the empty graph",
        takes="score",
        returns="dag",
        promise="a local optimum: no added, deleted or reversed edge improves the score",
        reference="Heckerman, Geiger & Chickering 1995",
        learner="dagora.search.greedy.hill_climb:hill_climb",
        options=RESTARTS,
    ),
    Method(
        name="tabu",
        summary="hill climbing that leaves local optima and does not go back",
        takes="score",
        returns="dag",
        promise="the best graph seen, at least as good as hill climbing's first optimum",
        reference="Glover 1989",
        learner="dagora.search.greedy.hill_climb:tabu_search",
        options=(
            Option("length", "int", 100, "how many graphs visited last are not visited again", low=1),
            Option("patience", "int", 100, "stop after this many moves without a better graph", low=1),
            *RESTARTS,
        ),
    ),
    Method(
        name="ges",
        summary="greedy search over classes of equivalent graphs",
        takes="score",
        returns="cpdag",
        promise="no edge inserted, deleted or turned in any graph of the class improves the score",
        reference="Chickering 2002; Hauser & Bühlmann 2012",
        learner="dagora.search.ges.ges:ges",
        options=(
            Option("start", "graph", None, "graph whose class to start from; without it, the empty graph"),
            Option("turning", "bool", True, "also turn edges; without it, insert and delete only"),
            Option("max_steps", "int", None, "stop after this many steps", low=0),
        ),
        needs_equivalence=True,
    ),
    Method(
        name="k2",
        summary="greedy parents along a given order of the variables",
        takes="score",
        returns="dag",
        promise="no further parent helps any variable in that order",
        reference="Cooper & Herskovits 1992",
        learner="dagora.search.k2:k2",
        options=(
            Option("order", "text", None, "names with commas between them; without it, the columns' order"),
        ),
    ),
    Method(
        name="order-search",
        summary="iterated insertion search over orders, on pruned parent sets",
        takes="candidates",
        returns="dag",
        promise="the best network found; the first choice to about 100 variables where no proof is needed",
        reference="Teyssier & Koller 2005; Lee & van Beek 2017",
        learner="dagora.search.order.order_search:order_search",
        options=(
            Option("chains", "int", 4, "independent searches, shared by the jobs", low=1),
            Option("patience", "int", None, "stop after this many disturbances without gain (2000)", low=0),
        ),
    ),
    Method(
        name="dynamic",
        summary="exact, by dynamic programming over subsets; to about 26 variables that depend on each other",
        takes="candidates",
        returns="dag",
        promise="a best network, proved",
        reference="Silander & Myllymäki 2006; Singh & Moore 2005",
        learner="dagora.search.exact.dynamic:dynamic",
        options=(MEMORY,),
    ),
    Method(
        name="astar",
        summary="exact, best first over sets of placed variables; to 64 variables that depend on each other",
        takes="candidates",
        returns="dag",
        promise="a best network, proved; or the best found with its distance from the optimum at most",
        reference="Yuan, Malone & Wu 2011; Yuan & Malone 2013; Karan & Zola 2016",
        learner="dagora.search.exact.astar:astar",
        options=(
            MEMORY,
            Option("group", "int", 20, "variables per group of the bound; more saves states", low=1, high=25),
        ),
    ),
    Method(
        name="ilp",
        summary="exact, by branch and cut over candidate parent sets (SCIP); the strongest proof here",
        takes="candidates",
        returns="dag",
        promise="a best network, proved; on a time or memory limit the best found and its gap",
        reference="Cussens 2011; Bartlett & Cussens 2017",
        learner="dagora.search.exact.ilp:ilp",
        options=(MEMORY, Option("facets", "bool", True, "also cut by facets of four nodes")),
    ),
    Method(
        name="obs",
        summary="ordering-based search: swaps of neighbours with a tabu list and restarts",
        takes="candidates",
        returns="dag",
        promise="the best network found",
        reference="Teyssier & Koller 2005",
        learner="dagora.search.order.obs:obs",
        options=(
            Option("restarts", "int", 100, "random orders to start from", low=1),
            Option("length", "int", 10, "swaps for which a pair may not be swapped back", low=0),
            Option("patience", "int", 100, "stop a search after this many swaps without gain", low=1),
        ),
    ),
    Method(
        name="asobs",
        summary="random orders, parents selected beyond the order as long as no cycle arises",
        takes="candidates",
        returns="dag",
        promise="the best network found",
        reference="Scanagatta, de Campos, Corani & Zaffalon 2015",
        learner="dagora.search.order.asobs:asobs",
        options=(Option("orders", "int", 20_000, "random orders to try", low=1),),
    ),
    Method(
        name="rbnets",
        summary="reinforcement learning over orders, coupled to a search over them; for comparisons",
        takes="candidates",
        returns="dag",
        promise="the best network found, never worse than any order tried; order-search is sooner there",
        reference="Zheng, Wang, Gao & Chen 2023",
        learner="dagora.search.rbnets.rbnets:rbnets",
        options=(
            Option("improve", "bool", True, "order search and polished orders besides; else as published"),
            Option("episodes", "int", 300, "orders that the network tries", low=1),
            Option(
                "state",
                "text",
                "set",
                "what the network sees: placed variables as bits (set) or random-walk vectors (walk)",
                choices=("set", "walk"),
            ),
            Option("hidden", "int", 64, "units in each of the two hidden layers", low=1, high=4096),
        ),
    ),
    Method(
        name="notears",
        summary="weights of a linear model without cycles, as a smooth program",
        takes="statistics",
        returns="dag",
        promise="exactly acyclic weights; with solver=path the best of many orders after the threshold",
        reference="Zheng, Aragam, Ravikumar & Xing 2018; Bello, Aragam & Ravikumar 2022",
        learner="dagora.optimise.notears:notears",
        options=(
            Option("lambda1", "float", 0.1, "price of a unit of weight", low=0.0),
            Option(
                "threshold",
                "float",
                0.3,
                "edges of smaller weight are dropped, the rest solved again (loss=profile: try 0.05)",
                low=0.0,
            ),
            Option(
                "cut",
                "text",
                "guarded",
                "how they go: one by one, at once as published, per column the better way (more edges), or "
                "guarded: one by one unless a column loses much by it (logistic, poisson: one by one)",
                choices=("guarded", "one-by-one", "at-once", "better"),
            ),
            Option(
                "solver",
                "text",
                None,
                "path (where the loss has second moments) or augmented-lagrangian, as published",
                choices=("path", "augmented-lagrangian"),
            ),
            Option(
                "loss",
                "text",
                "least-squares",
                "profile does not depend on units; logistic and poisson need rows",
                choices=("least-squares", "profile", "logistic", "poisson"),
                needs_rows=("logistic", "poisson"),
            ),
            Option(
                "intercept",
                "bool",
                True,
                "loss=logistic and poisson: each column has a level of its own; false as published",
            ),
            Option("standardise", "bool", False, "scale every column to variance 1 first"),
            Option(
                "disturbances",
                "int",
                None,
                "how often solver=path disturbs the best order (30; 0 beyond 150 variables)",
                low=0,
            ),
        ),
    ),
    Method(
        name="notears-mlp",
        summary="a smooth program over one small neural network per variable; nonlinear relations",
        takes="statistics",
        returns="dag",
        promise="a DAG from a local optimum of the penalised fit; edges cut to reach it are listed",
        reference="Zheng, Dan, Aragam, Ravikumar & Xing 2020",
        learner="dagora.optimise.mlp.notears_mlp:notears_mlp",
        options=(
            Option("lambda1", "float", 0.01, "weight of the penalty on the first layer", low=0.0),
            Option("lambda2", "float", 0.01, "weight of the ridge on all weights", low=0.0),
            Option("threshold", "float", 0.3, "edges weaker than this are cut", low=0.0),
            Option("hidden", "int", 10, "sigmoid units per network", low=1, high=1000),
            Option(
                "penalty",
                "text",
                "l1",
                "on each weight (l1) or on each edge's norm (group)",
                choices=("l1", "group"),
            ),
            Option("standardise", "bool", False, "scale every column to variance 1 first"),
        ),
        needs_rows=True,
    ),
    Method(
        name="dual-pc",
        summary="tests of partial correlations given small sets and given all but a few; Gaussian columns",
        takes="statistics",
        returns="cpdag",
        promise="a class of graphs: no tested set separates two neighbours, one separates any other pair",
        reference="Giudice, Kuipers & Moffa 2023; Spirtes, Glymour & Scheines 2000",
        learner="dagora.constraint.dual_pc:dual_pc",
        options=(Option("alpha", "float", 0.05, "level of each test", low=0.0, high=1.0, open_low=True),),
    ),
    Method(
        name="admm",
        summary="NOTEARS over sites, which agree on the weights round by round",
        takes="federation",
        returns="dag",
        promise="acyclic weights that all sites agree on; the coordinator sees sums over sites only",
        reference="Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.admm:admm",
        options=(
            Option("lambda1", "float", 0.01, "price of a unit of weight", low=0.0),
            Option("threshold", "float", 0.3, "smaller weights are dropped", low=0.0),
            *ADMM,
            Option("tolerance", "float", 1e-3, "residuals that count as agreement", low=0.0, open_low=True),
        ),
    ),
    Method(
        name="admm-mlp",
        summary="NOTEARS-MLP over sites, which agree on the networks round by round",
        takes="federation",
        returns="dag",
        promise="a DAG from networks that the sites agree on; the coordinator sees sums over sites only",
        reference="Ng & Zhang 2022; Zheng, Dan, Aragam, Ravikumar & Xing 2020",
        learner="dagora.parties.horizontal.learners.admm_mlp:admm_mlp",
        options=(
            Option("lambda1", "float", 0.01, "weight of the penalty on the first layer", low=0.0),
            Option("lambda2", "float", 0.01, "weight of the ridge on all weights", low=0.0),
            Option("threshold", "float", 0.3, "edges weaker than this are cut", low=0.0),
            Option("hidden", "int", 10, "sigmoid units per network", low=1, high=1000),
            *ADMM,
            Option("tolerance", "float", 1e-2, "residuals that count as agreement", low=0.0, open_low=True),
        ),
    ),
    Method(
        name="vote",
        summary="each site learns NOTEARS alone; edges that more than half of them have",
        takes="federation",
        returns="dag",
        promise="a baseline; every site's weights are shown to the coordinator",
        reference="Na & Yang 2010; Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.baselines:vote",
        options=ALONE,
    ),
    Method(
        name="average",
        summary="each site learns NOTEARS alone; the mean of their weights",
        takes="federation",
        returns="dag",
        promise="a baseline; every site's weights are shown to the coordinator",
        reference="Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.baselines:average",
        options=ALONE,
    ),
    Method(
        name="best",
        summary="each site learns NOTEARS alone; the graph nearest to a known truth",
        takes="federation",
        returns="dag",
        promise="a baseline that needs the truth; every site's weights are shown to the coordinator",
        reference="Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.baselines:best",
        options=(
            *ALONE,
            Option(
                "truth",
                "graph",
                None,
                "the true graph, which chooses among the sites (on the command line: --truth)",
                required=True,
            ),
        ),
    ),
)


def method_named(name: str) -> Method:
    """Find a method, or say which there are.

    >>> method_named("hill-climb").promise
    'a local optimum: no added, deleted or reversed edge improves the score'
    """
    return find("method", name, {method.name: method for method in METHODS})
