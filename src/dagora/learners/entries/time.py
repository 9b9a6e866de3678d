"""Series: edges within a step and from earlier steps."""

from __future__ import annotations

from dataclasses import replace

from dagora.base.options import Option
from dagora.learners.entries.independence import LEVEL, MOST_GIVEN, TEST
from dagora.learners.method import NO_PARENT_LIMIT, Method

LAGS = Option("lags", "int", 1, "how many steps back a variable may depend on", low=1, high=100)
TEST_IN_TIME = replace(TEST, summary=f"{TEST.summary}; over sites fisher-z alone")
IN_TIME = (
    LAGS,
    Option("lambda1", "float", 0.05, "L1 penalty on the weights within a step", low=0.0),
    Option("lambda_lagged", "float", 0.05, "L1 penalty on the weights from earlier steps", low=0.0),
    Option("threshold", "float", 0.3, "smaller weights within a step are dropped", low=0.0),
    Option("threshold_lagged", "float", 0.1, "smaller weights from earlier steps are dropped", low=0.0),
)
IN_STEP = (
    Option(
        "collider_rule",
        "text",
        "majority",
        "when x → k ← y: k is in few of the sets that separate x and y (majority), in none of them "
        "(conservative), or not in the one that was found first (none)",
        choices=("majority", "conservative", "none"),
    ),
    Option("max_given", "int", None, "most variables of the same step that a test is given", low=0),
    Option(
        "max_lagged",
        "int",
        None,
        "most earlier nodes of either end that a test is given, the strongest first",
        low=0,
    ),
)

TIME = (
    Method(
        name="dynotears",
        summary="NOTEARS in time: weights within a step and from earlier steps, from series",
        takes="statistics",
        returns="dag",
        promise="no cycle within a step, and no edge against time; many orders are compared",
        reference="Pamfil, Sriwattanaworachai, Desai, Pilgerstorfer, Georgatzis, Beaumont & Aragam 2020",
        learner="dagora.learners.time.dynotears:dynotears",
        obeys=NO_PARENT_LIMIT,
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
        name="pcmci-plus",
        summary="PCMCI+: tests of independence given the past of both ends, for autocorrelated series",
        takes="statistics",
        returns="cpdag",
        promise="the true class in time where every test is right; in any order of the columns, the same one",
        reference="Runge 2020",
        learner="dagora.learners.time.pcmci_plus:pcmci_plus",
        obeys=NO_PARENT_LIMIT,
        options=(LAGS, TEST_IN_TIME, LEVEL, *IN_STEP),
        any_kind=True,
        by_tests=True,
        in_time=True,
        reach=2,
    ),
    Method(
        name="jpcmci-plus",
        seldom=True,
        summary="J-PCMCI+: pcmci-plus for many series, whose contexts may be columns or hidden",
        takes="statistics",
        returns="cpdag",
        promise="the true class of the variables of series where every test is right, also where hidden "
        "contexts confound them",
        reference="Günther, Ninad & Runge 2023",
        learner="dagora.learners.time.jpcmci_plus:jpcmci_plus",
        obeys=NO_PARENT_LIMIT,
        options=(
            LAGS,
            LEVEL,
            Option(
                "hidden",
                "text",
                "auto",
                "hidden contexts: what differs between series, what changes alike in all (steps), both, "
                "or none; auto is both if that leaves half of the windows, else series",
                choices=("auto", "both", "series", "steps", "none"),
            ),
            *IN_STEP,
        ),
        needs_rows=True,
        by_tests=True,
        in_time=True,
        reach=2,
    ),
    Method(
        name="svar-rfci",
        seldom=True,
        summary="rfci on windows of series, where causes may be hidden: a PAG in time",
        takes="statistics",
        returns="pag",
        promise="every mark is right where every test is; there may be an edge that more tests would remove",
        reference="Malinsky & Spirtes 2018; Colombo et al. 2012; Gerhardus & Runge 2020",
        learner="dagora.learners.time.svar_rfci:svar_rfci",
        obeys=NO_PARENT_LIMIT,
        options=(
            LAGS,
            TEST_IN_TIME,
            LEVEL,
            Option(
                "rounds",
                "int",
                2,
                "how often the search is made, each time given the parents that the last one found",
                low=1,
                high=10,
            ),
            MOST_GIVEN,
        ),
        any_kind=True,
        by_tests=True,
        in_time=True,
        reach=3,
    ),
    Method(
        name="lpcmci",
        summary="LPCMCI: tests given all causes known so far; causes may be hidden: a PAG in time",
        takes="statistics",
        returns="pag",
        promise="every mark is right where every test is, and so is every edge of windows with these lags; "
        "names the edges for which max_beyond left sets untried",
        reference="Gerhardus & Runge 2020",
        learner="dagora.learners.time.lpcmci:lpcmci",
        obeys=NO_PARENT_LIMIT,
        options=(
            LAGS,
            TEST_IN_TIME,
            LEVEL,
            Option(
                "preliminary",
                "int",
                4,
                "searches before the last one, each given the parents that the one before found",
                low=0,
                high=20,
            ),
            MOST_GIVEN,
            Option(
                "max_beyond",
                "int",
                3,
                "most nodes of a set that are not known to be causes, where possible causes do not separate",
                low=0,
            ),
        ),
        any_kind=True,
        by_tests=True,
        in_time=True,
        reach=2,
    ),
    Method(
        name="var-lingam",
        summary="VAR-LiNGAM: linear relations in time; noise that is not normal shows directions",
        takes="statistics",
        returns="dag",
        promise="no edge against time; an order within a step found greedily, edges pruned by BIC; warns "
        "where the noise may be normal",
        reference="Hyvärinen, Zhang, Shimizu & Hoyer 2010; Shimizu et al. 2011",
        learner="dagora.learners.time.var_lingam:var_lingam",
        obeys=NO_PARENT_LIMIT,
        options=(
            LAGS,
            Option(
                "prune", "bool", True, "drop edges by BIC; without it, every edge that the order allows stays"
            ),
        ),
        needs_rows=True,
        in_time=True,
    ),
)
