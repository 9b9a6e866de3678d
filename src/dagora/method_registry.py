"""The registry of learners: the name, input, promise, reference and options of each.

A new method adds an entry here; the command, the contract tests and `dagora methods` then know it.
"""

from __future__ import annotations

from dataclasses import replace

from dagora.errors import OptionError
from dagora.extras import JAX, SCIP, require_all
from dagora.method import Method
from dagora.options import MEMORY, Option, find_in_any_case

RESTARTS = (
    Option(
        "start",
        "graph",
        None,
        "graph to start from (a file on the command line); without it, the empty graph",
    ),
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
IN_TIME = (
    Option("lags", "int", 1, "how many steps back a variable may depend on", low=1, high=100),
    Option("lambda1", "float", 0.05, "L1 penalty on the weights within a step", low=0.0),
    Option("lambda_lagged", "float", 0.05, "L1 penalty on the weights from earlier steps", low=0.0),
    Option("threshold", "float", 0.3, "smaller weights within a step are dropped", low=0.0),
    Option("threshold_lagged", "float", 0.1, "smaller weights from earlier steps are dropped", low=0.0),
)

PENALISED = (
    Option("lambda1", "float", 0.01, "L1 penalty on the weights at each site", low=0.0),
    Option("threshold", "float", 0.3, "weights of smaller size are dropped", low=0.0),
)
SITE_ALONE = (
    *PENALISED,
    Option("model", "text", "linear", "model that each site fits", choices=("linear", "mlp")),
)

TEST = Option(
    "test",
    "text",
    "auto",
    "fisher-z for normal columns; x2, g2 or g2-seen for discrete ones (g2 counts all degrees of "
    "freedom, g2-seen those of levels seen); for numbers in bent relations features, which needs "
    "only sums, or on rows hsic, dcov or gcm; mixed for both kinds; auto takes fisher-z, x2 or "
    "mixed",
    choices=(
        "auto",
        "fisher-z",
        "x2",
        "g2",
        "g2-seen",
        "mixed",
        "features",
        "hsic",
        "dcov",
        "gcm",
    ),
    needs_rows=("hsic", "dcov", "gcm"),
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
        learner=f"dagora.constraint.kernel_pc:{learner}",
        options=(
            Option("alpha", "float", 0.05, "level of the tests", low=0.0, high=1.0, open_low=True),
            MOST_GIVEN,
        ),
        needs_rows=True,
        by_tests=True,
    )


METHODS = (
    Method(
        name="auto",
        summary="what is best for the data: tabu search, then a search over orders from what it found",
        takes="score",
        returns="dag",
        promise="never below tabu search; nearly always the same graph wherever the columns stand",
        reference="Glover 1989; Lee & van Beek 2017; Scanagatta, Corani & Zaffalon 2017",
        learner="dagora.search.auto:auto",
        in_both_orders=True,
    ),
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
        summary="hill climbing that goes on from local optima and avoids graphs visited recently",
        takes="score",
        returns="dag",
        promise="the best graph seen, at least as good as hill climbing's first optimum",
        reference="Glover 1989",
        learner="dagora.search.greedy.hill_climb:tabu_search",
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
        learner="dagora.search.ges.ges:ges",
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
        promise="a local optimum over orders and classes: no edge inserted, deleted or turned helps",
        reference="Andrews, Ramsey, Sanchez Romero, Camchong & Kummerfeld 2023",
        learner="dagora.search.order.boss:boss",
        options=(Option("starts", "int", 10, "random orders to start from", low=1),),
        needs_equivalence=True,
    ),
    Method(
        name="k2",
        summary="greedy choice of parents along a given order of the variables",
        takes="score",
        returns="dag",
        promise="a local optimum: no single further parent that the order allows improves the score",
        reference="Cooper & Herskovits 1992",
        learner="dagora.search.k2:k2",
        options=(
            Option(
                "order",
                "text",
                None,
                "comma-separated names, parents first; without it, the order of the columns",
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
        learner="dagora.search.order.order_search:order_search",
        options=(
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
        learner="dagora.search.exact.dynamic:dynamic",
        options=(MEMORY,),
    ),
    Method(
        name="astar",
        summary="exact, by A* over sets of variables placed in the order; up to 64 interdependent ones",
        takes="candidates",
        returns="dag",
        promise="a network of the highest score, proved; if stopped early, the best found and its gap",
        reference="Yuan, Malone & Wu 2011; Yuan & Malone 2013; Karan & Zola 2016",
        learner="dagora.search.exact.astar:astar",
        options=(
            MEMORY,
            Option(
                "group", "int", 20, "variables per group of the bound; larger: fewer states", low=1, high=25
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
        learner="dagora.search.exact.ilp:ilp",
        needs=(SCIP,),
        options=(MEMORY, Option("facets", "bool", True, "also add cuts over three to seven nodes")),
    ),
    Method(
        name="obs",
        seldom=True,
        summary="ordering-based search: swaps of adjacent variables, with a tabu list and random restarts",
        takes="candidates",
        returns="dag",
        promise="the best network found",
        reference="Teyssier & Koller 2005",
        learner="dagora.search.order.obs:obs",
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
        learner="dagora.search.order.asobs:asobs",
        options=(Option("orders", "int", 20_000, "random orders to try", low=1),),
    ),
    Method(
        name="rbnets",
        seldom=True,
        summary="reinforcement learning over orders, combined with an order search; for comparisons",
        takes="candidates",
        returns="dag",
        promise="the best network over all orders tried; order-search gets there faster",
        reference="Zheng, Wang, Gao & Chen 2023",
        learner="dagora.search.rbnets.rbnets:rbnets",
        needs=(JAX,),
        options=(
            Option(
                "published",
                "bool",
                False,
                "the paper's algorithm alone, without order search: states from walks, raw rewards; with the "
                "score gp2 also that score's published",
            ),
            Option("episodes", "int", 300, "number of orders that the neural network tries", low=1),
            Option(
                "state",
                "text",
                None,
                "input of the neural network: placed variables as bits (set) or random-walk vectors (walk); "
                "without it, walk if published, else set",
                choices=("set", "walk"),
            ),
            Option(
                "reward",
                "text",
                None,
                "what the network learns from: scores as they are (raw, equation 7 of the paper) or scaled "
                "gains over no parents (gain); without it, raw if published, else gain",
                choices=("raw", "gain"),
            ),
            Option("hidden", "int", 64, "units in each of the two hidden layers", low=1, high=4096),
        ),
    ),
    Method(
        name="rl-bic",
        seldom=True,
        summary="reinforcement learning over graphs: a network draws them from sampled rows; for comparisons",
        takes="score",
        returns="dag",
        promise="the best DAG that the network drew, pruned; auto gets higher in a second",
        reference="Zhu, Ng & Chen 2020",
        learner="dagora.search.rl_bic.rl_bic:rl_bic",
        needs=(JAX,),
        needs_rows=True,
        options=(
            Option("rounds", "int", 20_000, "rounds of drawing and learning", low=1),
            Option("batch", "int", 64, "graphs drawn in a round", low=2, high=4096),
            Option("sample", "int", 64, "rows that the network sees for each graph", low=1, high=4096),
            Option("hidden", "int", 64, "units for each variable in the network", low=1, high=4096),
            Option("heads", "int", 16, "attention heads of a block; must divide hidden", low=1, high=4096),
            Option("blocks", "int", 6, "attention blocks", low=1, high=64),
            Option(
                "bias",
                "float",
                None,
                "added to the log-odds of every edge: the lower, the sparser the first graphs; without it 0 "
                "if all columns are continuous, else one expected parent for each variable",
            ),
            Option(
                "variances",
                "text",
                "different",
                "equal: score by one variance for the noise of all columns (bic-gaussian only)",
                choices=("different", "equal"),
            ),
            Option(
                "threshold",
                "float",
                None,
                "drop edges of smaller weight in the end (the paper: 0.3; linear scores only); without it, "
                "edges whose removal does not lower the score",
                low=0.0,
            ),
        ),
    ),
    Method(
        name="notears",
        summary="weights of an acyclic linear model, by continuous optimisation",
        takes="statistics",
        returns="dag",
        promise="exactly acyclic weights; many orders are compared after thresholding, unless published=true",
        reference="Zheng, Aragam, Ravikumar & Xing 2018; Bello, Aragam & Ravikumar 2022",
        learner="dagora.optimise.notears:notears",
        options=(
            Option(
                "lambda1",
                "float",
                0.1,
                "L1 penalty on the weights; auto: chosen from the data by extended BIC",
                low=0.0,
                words=("auto",),
            ),
            Option(
                "threshold",
                "float",
                0.3,
                "edges of smaller weight are dropped and the others refitted (loss=profile: try 0.05); auto: "
                "chosen from the data by extended BIC",
                low=0.0,
                words=("auto",),
            ),
            Option(
                "published",
                "bool",
                False,
                "algorithm 1 of the paper (inner solver: its authors' code) and nothing after it but the cut "
                "of cycles that are left: weak weights are set to zero, the others not refitted",
            ),
            Option(
                "cut",
                "text",
                None,
                "how edges below the threshold are dropped: one by one, all at once, the better of the two "
                "for each column (keeps more edges), or guarded (the default): one by one except for columns "
                "whose objective gets much worse by it; the rest is refitted each time; losses logistic and "
                "poisson: always one by one",
                choices=("guarded", "one-by-one", "at-once", "better"),
            ),
            Option(
                "loss",
                "text",
                "least-squares",
                "profile does not depend on the columns' units; logistic and poisson need rows",
                choices=("least-squares", "profile", "logistic", "poisson"),
                needs_rows=("logistic", "poisson"),
            ),
            Option(
                "intercept",
                "bool",
                None,
                "loss=logistic and loss=poisson: fit an intercept for each column (default; not with "
                "published=true, because the paper's models have none)",
            ),
            Option("standardise", "bool", False, "scale every column to variance 1 first"),
            Option(
                "disturbances",
                "int",
                None,
                "perturbations of the best order (on moments); without it, 30, or 0 beyond 150 variables",
                low=0,
            ),
            Option(
                "device",
                "text",
                "auto",
                "where the smooth path is followed; gpu needs JAX and a GPU that it sees; auto: the GPU, if "
                "there is one, for more than 1000 columns",
                choices=("auto", "cpu", "gpu"),
            ),
        ),
    ),
    Method(
        name="dynotears",
        summary="NOTEARS in time: weights within a step and from earlier steps, from series",
        takes="statistics",
        returns="dag",
        promise="no cycle within a step, and no edge against time; many orders are compared",
        reference="Pamfil, Sriwattanaworachai, Desai, Pilgerstorfer, Georgatzis, Beaumont & Aragam 2020",
        learner="dagora.time.dynotears:dynotears",
        options=(
            *(
                replace(each, summary=f"{each.summary}; 0 only together with lambda1=0")
                if each.name == "lambda_lagged"
                else each
                for each in IN_TIME
            ),
            Option(
                "cut",
                "text",
                "guarded",
                "how weights below the thresholds are dropped, as in notears",
                choices=("guarded", "one-by-one", "at-once", "better"),
            ),
            Option("standardise", "bool", False, "scale every variable to variance 1 first"),
            Option(
                "disturbances",
                "int",
                None,
                "perturbations of the best order; without it, 30, or 0 beyond 150 variables",
                low=0,
            ),
        ),
        in_time=True,
    ),
    Method(
        name="notears-mlp",
        summary="NOTEARS with a small neural network per variable, for nonlinear relations",
        takes="statistics",
        returns="dag",
        promise="a DAG from a local optimum of the penalised fit; edges dropped to break cycles are listed",
        reference="Zheng, Dan, Aragam, Ravikumar & Xing 2020",
        learner="dagora.optimise.mlp.notears_mlp:notears_mlp",
        needs=(JAX,),
        options=(
            Option("lambda1", "float", 0.01, "penalty on the weights of the first layer", low=0.0),
            Option("lambda2", "float", 0.01, "ridge penalty on all weights", low=0.0),
            Option("threshold", "float", 0.3, "edges weaker than this are dropped", low=0.0),
            Option("hidden", "int", 10, "sigmoid units per network", low=1, high=1000),
            Option(
                "penalty",
                "text",
                "l1",
                "penalise each weight (l1) or the norm of each edge's weights (group)",
                choices=("l1", "group"),
            ),
            Option("standardise", "bool", False, "scale every column to variance 1 first"),
        ),
        needs_rows=True,
    ),
    Method(
        name="notears-sob",
        summary="NOTEARS with a sum of polynomials per edge, for nonlinear relations; works on moments",
        takes="statistics",
        returns="dag",
        promise="a DAG from a local optimum of the penalised fit; edges dropped to break cycles are listed",
        reference="Zheng, Dan, Aragam, Ravikumar & Xing 2020",
        learner="dagora.optimise.additive.notears_sob:notears_sob",
        options=(
            Option("lambda1", "float", 0.03, "penalty on the strength of each edge", low=0.0),
            Option("lambda2", "float", 0.01, "ridge penalty on all coefficients", low=0.0),
            Option("threshold", "float", 0.2, "edges weaker than this are dropped", low=0.0),
            Option("functions", "int", 5, "basis functions per column; 1: linear", low=1, high=20),
            Option("standardise", "bool", False, "scale every column to variance 1 first"),
        ),
    ),
    Method(
        name="pc",
        summary="tests of independence given ever more variables, then directions from what separates",
        takes="statistics",
        returns="cpdag",
        promise="the true class where every test is right; wherever the columns stand, the same one",
        reference="Spirtes & Glymour 1991; Colombo & Maathuis 2014",
        learner="dagora.constraint.pc:pc",
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
    ),
    Method(
        name="rfci",
        summary="as pc where causes may be hidden: a PAG; makes sure of its conclusions by a few more tests",
        takes="statistics",
        returns="pag",
        promise="every mark is right where every test is; there may be an edge that fci would remove",
        reference="Colombo, Maathuis, Kalisch & Richardson 2012; Zhang 2008",
        learner="dagora.constraint.rfci:rfci",
        options=FOR_HIDDEN,
        any_kind=True,
        by_tests=True,
    ),
    Method(
        name="fci",
        summary="as pc where causes may be hidden: a PAG; tests further sets, of which there can be many",
        takes="statistics",
        returns="pag",
        promise="the PAG of the truth where every test is right; wherever the columns stand, the same one",
        reference="Spirtes, Glymour & Scheines 2000; Zhang 2008; Colombo & Maathuis 2014",
        learner="dagora.constraint.fci:fci",
        options=FOR_HIDDEN,
        any_kind=True,
        by_tests=True,
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
        learner="dagora.constraint.dual_pc:dual_pc",
        options=(
            Option(
                "alpha", "float", 0.05, "significance level of each test", low=0.0, high=1.0, open_low=True
            ),
        ),
        by_tests=True,
    ),
    Method(
        name="lingam",
        summary="DirectLiNGAM: linear relations with noise that is not normal, which shows directions",
        takes="statistics",
        returns="dag",
        promise="an order found greedily, edges pruned by BIC; warns where the noise may be normal",
        reference="Shimizu et al. 2011; Hyvärinen & Smith 2013",
        learner="dagora.nongaussian.direct_lingam:lingam",
        needs_rows=True,
    ),
    Method(
        name="ica-lingam",
        seldom=True,
        summary="LiNGAM by independent components: all equations at once; lingam is more accurate",
        takes="statistics",
        returns="dag",
        promise="an order from a local optimum of FastICA, edges pruned by BIC; warns as lingam does",
        reference="Shimizu, Hoyer, Hyvärinen & Kerminen 2006; Hyvärinen 1999",
        learner="dagora.nongaussian.ica_lingam:ica_lingam",
        options=(Option("max_steps", "int", 1000, "most steps of FastICA", low=1),),
        needs_rows=True,
    ),
    Method(
        name="admm",
        summary="NOTEARS over sites, which agree on common weights round by round",
        takes="federation",
        returns="dag",
        promise="acyclic weights that all sites agree on; shows the coordinator the covariance of every site",
        reference="Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.admm:admm",
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
        options=(
            *IN_TIME,
            Option("max_rounds", "int", None, "stop after this many rounds", low=1),
            AGREED,
        ),
        in_time=True,
    ),
    Method(
        name="vote",
        summary="each site runs NOTEARS, PC or a search alone; keeps the edges that most found",
        takes="federation",
        returns="dag",
        promise="a baseline; every site's weights or graph are shown to the coordinator",
        reference="Na & Yang 2010; Ng & Zhang 2022",
        learner="dagora.parties.horizontal.learners.baselines:vote",
        options=(
            *(replace(each, only_with=("model", ("linear", "mlp"))) for each in PENALISED),
            Option(
                "model",
                "text",
                "linear",
                "what each site fits: weights of NOTEARS (linear or mlp), or a graph by pc or a search on "
                "BIC (ges, hill-climb, tabu), for columns of any kind",
                choices=("linear", "mlp", "pc", "ges", "hill-climb", "tabu"),
                any_kind=("pc", "ges", "hill-climb", "tabu"),
            ),
            Option(
                "alpha",
                "float",
                0.01,
                "level of the tests",
                low=0.0,
                high=1.0,
                open_low=True,
                only_with=("model", ("pc",)),
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
        options=(
            *SITE_ALONE,
            Option(
                "truth",
                "graph",
                None,
                "the true graph, by which the site is chosen",
                required=True,
            ),
        ),
    ),
)


def method_named(name: str) -> Method:
    """Find a method, or say which there are; one whose packages are missing is refused.

    >>> method_named("hill-climb").promise
    'a local optimum: no added, deleted or reversed edge improves the score'
    """
    if hasattr(name, "shape"):
        raise OptionError(
            f"the second argument is the name of a method, not a {type(name).__name__}: all variables, also "
            "a target, are columns of one table"
        )
    method = find_in_any_case("method", name, {method.name: method for method in METHODS})
    require_all(method.needs, f"the method {method.name}")
    return method


def methods_with(option: str) -> str:
    """The end of an error about an option that a method has not: which methods have it.

    >>> methods_with("restarts"), methods_with("zebra")
    ('; hill-climb, tabu, obs have it', '')
    """
    names = [method.name for method in METHODS if option in {own.name for own in method.options}]
    return f"; {', '.join(names)} {'has' if len(names) == 1 else 'have'} it" if names else ""
