"""Searches of graphs by a score: greedy, over orders, exact."""

from __future__ import annotations

from dagora.base.extras import SCIP
from dagora.base.options import MEMORY, Option
from dagora.learners.method import WITH_CAUSES, WITH_PRIOR, Method

START = Option(
    "start", "graph", None, "graph to start from, such as an earlier result; without it, the empty graph"
)
RESTARTS = (
    START,
    Option("restarts", "int", 0, "climb again this many times, from a randomly perturbed best graph", low=0),
    Option(
        "perturb",
        "int",
        None,
        "random moves per restart; without it, a tenth of the nodes, at least 2",
        low=1,
    ),
    Option("max_steps", "int", None, "stop after this many moves", low=0),
)

BEST = Option(
    "best",
    "int",
    1,
    "number of classes of equivalent networks to find, best first, with proof and posterior odds",
    low=1,
    high=1000,
)

SEARCHES = (
    Method(
        name="auto",
        summary="what is best for the data: tabu search, then a search over orders from what it found",
        takes="score",
        returns="dag",
        promise="scores at least as well as tabu, if no cell is missing; nearly always the same in any order "
        "of columns",
        reference="Glover 1989; Lee & van Beek 2017; Scanagatta, Corani & Zaffalon 2017",
        learner="dagora.learners.search.auto:auto",
        obeys=WITH_CAUSES,
        screens=True,
        in_both_orders=True,
        options=(START,),
    ),
    Method(
        name="hill-climb",
        summary="greedy search over single edges, from the empty graph",
        takes="score",
        returns="dag",
        promise="a local optimum: no added, deleted or reversed edge improves the score",
        reference="Heckerman, Geiger & Chickering 1995",
        learner="dagora.learners.search.greedy.hill_climb:hill_climb",
        obeys=WITH_CAUSES,
        screens=True,
        options=RESTARTS,
    ),
    Method(
        name="tabu",
        summary="hill climbing that goes on from local optima and avoids graphs visited recently",
        takes="score",
        returns="dag",
        promise="the best graph seen, at least as good as hill climbing's first optimum",
        reference="Glover 1989",
        learner="dagora.learners.search.greedy.hill_climb:tabu_search",
        obeys=WITH_CAUSES,
        screens=True,
        options=(
            Option("length", "int", 100, "how many of the last visited graphs are not visited again", low=1),
            Option("patience", "int", 100, "stop after this many moves without a better graph", low=1),
            *RESTARTS,
        ),
    ),
    Method(
        name="ges",
        summary="greedy equivalence search: over classes of equivalent graphs",
        takes="score",
        returns="cpdag",
        promise="a local optimum: no edge inserted, deleted or turned in a graph of the class helps",
        reference="Chickering 2002; Hauser & Bühlmann 2012",
        learner="dagora.learners.search.ges.ges:ges",
        obeys=("forbidden pairs", "max_parents", "adjacent prior"),
        screens=True,
        options=(
            Option("start", "graph", None, "graph whose class to start from; without it, the empty graph"),
            Option("turning", "bool", True, "also turn edges; without it, insert and delete only"),
            Option("max_steps", "int", None, "stop after this many steps", low=0),
        ),
        needs_equivalence=True,
    ),
    Method(
        name="boss",
        summary="best order score search: variables move in an order, then greedy equivalence search",
        takes="score",
        returns="cpdag",
        promise="a local optimum over orders, then classes or graphs: no edge added, deleted or turned helps",
        reference="Andrews, Ramsey, Sanchez Romero, Camchong & Kummerfeld 2023",
        learner="dagora.learners.search.order.boss:boss",
        obeys=("forbidden pairs", "max_parents", "adjacent prior"),
        options=(
            Option(
                "starts", "int", None, "orders to start from: 10, or fewer of more than 100 numbers", low=1
            ),
            Option("start", "graph", None, "graph whose order is the first of them"),
        ),
        needs_equivalence=True,
    ),
    Method(
        name="k2",
        summary="greedy choice of parents along a given order of the variables",
        takes="score",
        returns="dag",
        promise="a local optimum: no single further parent that the order allows improves the score",
        reference="Cooper & Herskovits 1992",
        learner="dagora.learners.search.k2:k2",
        obeys=WITH_PRIOR,
        options=(
            Option(
                "order",
                "text",
                None,
                "comma-separated names, parents first; without it, the order of the columns",
                names_columns=True,
            ),
        ),
    ),
    Method(
        name="order-search",
        summary="iterated local search over orders by insertion moves, on pruned parent sets",
        takes="candidates",
        returns="dag",
        promise="the best network found, without proof; the first choice for up to about 100 variables",
        reference="Teyssier & Koller 2005; Lee & van Beek 2017",
        learner="dagora.learners.search.order.order_search:order_search",
        obeys=WITH_CAUSES,
        growth="parent sets",
        options=(
            Option("start", "graph", None, "graph from whose order to start, such as an earlier result"),
            Option("chains", "int", 4, "independent searches, run in parallel by the jobs", low=1),
            Option(
                "patience",
                "int",
                None,
                "stop after this many perturbations without gain; without it 5000, on incomplete sets 20000",
                low=0,
            ),
        ),
    ),
    Method(
        name="dynamic",
        summary="exact, by dynamic programming over subsets; up to about 26 interdependent variables",
        takes="candidates",
        returns="dag",
        promise="a network of the highest score, proved",
        reference="Silander & Myllymäki 2006; Singh & Moore 2005",
        learner="dagora.learners.search.exact.dynamic:dynamic",
        obeys=WITH_PRIOR,
        growth="exponential",
        options=(MEMORY, BEST),
    ),
    Method(
        name="astar",
        summary="exact, by A* over sets of variables placed in the order; up to 64 interdependent ones",
        takes="candidates",
        returns="dag",
        promise="a network of the highest score, proved; if stopped early, the best found and its gap",
        reference="Yuan, Malone & Wu 2011; Yuan & Malone 2013; Karan & Zola 2016",
        learner="dagora.learners.search.exact.astar:astar",
        obeys=WITH_PRIOR,
        growth="exponential",
        options=(
            MEMORY,
            Option(
                "bound_size",
                "int",
                20,
                "variables of a group of the bound; more: fewer states",
                low=1,
                high=25,
            ),
        ),
    ),
    Method(
        name="ilp",
        summary="exact, by integer programming over candidate parent sets (SCIP); for the largest problems",
        takes="candidates",
        returns="dag",
        promise="a network of the highest score, proved; if stopped early, the best found and its gap",
        reference="Cussens 2011; Bartlett & Cussens 2017",
        learner="dagora.learners.search.exact.ilp:ilp",
        obeys=WITH_CAUSES,
        growth="parent sets",
        needs=(SCIP,),
        options=(MEMORY, Option("facets", "bool", True, "also add cuts over three to seven nodes"), BEST),
    ),
    Method(
        name="obs",
        seldom=True,
        summary="ordering-based search: swaps of adjacent variables, with a tabu list and random restarts",
        takes="candidates",
        returns="dag",
        promise="the best network found",
        reference="Teyssier & Koller 2005",
        learner="dagora.learners.search.order.obs:obs",
        obeys=WITH_CAUSES,
        growth="parent sets",
        options=(
            Option("restarts", "int", 100, "random orders to start from", low=1),
            Option("length", "int", 10, "number of swaps before a pair may be swapped back", low=0),
            Option("patience", "int", 100, "stop a search after this many swaps without gain", low=1),
        ),
    ),
    Method(
        name="asobs",
        seldom=True,
        summary="random orders; parents may come later in the order as long as no cycle arises",
        takes="candidates",
        returns="dag",
        promise="the best network found",
        reference="Scanagatta, de Campos, Corani & Zaffalon 2015",
        learner="dagora.learners.search.order.asobs:asobs",
        obeys=WITH_CAUSES,
        growth="parent sets",
        options=(Option("orders", "int", 20_000, "random orders to try", low=1),),
    ),
)
