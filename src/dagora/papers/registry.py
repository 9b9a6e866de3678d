"""The reproductions by name: what each shows, and where it is made.

A new one adds an entry here; the command `dagora reproduce` then knows it. `maker` is imported only when the
item is run; it takes a `Size` and returns an `Experiment`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from dagora.base.extras import (
    CRYPTOGRAPHY_FOR_SITES,
    FOR_OWNERS,
    GMPY2,
    JAX,
    MATPLOTLIB,
    SCIP,
    Need,
    require_all,
)
from dagora.base.loading import load
from dagora.base.options import find

if TYPE_CHECKING:
    from dagora.papers.experiment import Experiment, Size


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper; `needs` are packages that must be installed, by default for charts."""

    name: str
    summary: str
    maker: str
    reference: str
    quick: str
    full: str
    needs: tuple[Need, ...] = (MATPLOTLIB,)

    def size(self, *, full: bool) -> str:
        """The size in words, for the first line of a page.

        >>> item_named("notears/sachs").size(full=False)
        'quick size: all 7466 rows, one run'
        """
        return f"full size: {self.full}" if full else f"quick size: {self.quick}"

    def load(self) -> Callable[[Size], Experiment]:
        """Import the function that makes the experiment."""
        return cast("Callable[[Size], Experiment]", load(self.maker))


NOTEARS = "Zheng, Aragam, Ravikumar & Xing 2018, DAGs with NO TEARS"
ADMM = "Ng & Zhang 2022, Towards Federated Bayesian Network Structure Learning with Continuous Optimization"
GPN = "Giudice, Kuipers & Moffa 2023, A Bayesian Take on Gaussian Process Networks"
PRIVATE_K2 = (
    "Wright & Yang 2004, Privacy-Preserving Bayesian Network Structure Computation on Distributed "
    "Heterogeneous Data"
)
RBNETS = "Zheng, Wang, Gao & Chen 2023, RBNets: A Reinforcement Learning Approach for Learning BN Structure"

ITEMS = (
    Item(
        "notears/table1",
        "objective at the truth, the exact optimum, our solution and that of Algorithm 1, d = 10",
        "dagora.papers.notears.table1:table1",
        NOTEARS,
        quick="3 graphs per row",
        full="10 graphs per row",
    ),
    Item(
        "notears/inner",
        "Algorithm 1 with the inner solver of the paper and that of its authors' code, tables of table 1",
        "dagora.papers.notears.inner:inner",
        NOTEARS,
        quick="3 graphs per row",
        full="10 graphs per row",
    ),
    Item(
        "notears/fig1",
        "weights found by Algorithm 1 on an ER2 graph of 20 nodes, n = 20 and 1000, as maps",
        "dagora.papers.notears.weight_maps:fig1",
        NOTEARS,
        quick="one graph, n = 20 and 1000",
        full="one graph, n = 20 and 1000",
    ),
    Item(
        "notears/fig2",
        "the same on an SF4 graph",
        "dagora.papers.notears.weight_maps:fig2",
        NOTEARS,
        quick="one graph, n = 20 and 1000",
        full="one graph, n = 20 and 1000",
    ),
    Item(
        "notears/fig3",
        "SHD and FDR of NOTEARS by two solvers, GES, PC and sort-and-regress on simulated graphs",
        "dagora.papers.notears.fig3:fig3",
        NOTEARS,
        quick="d = 10 and 20, 3 graphs",
        full="d = 10 to 100, 10 graphs",
    ),
    Item(
        "notears/fig3-lingam",
        "DirectLiNGAM on the tables of figure 3, beside the lines that take less than a second",
        "dagora.papers.notears.fig3:fig3_lingam",
        NOTEARS,
        quick="d = 10 and 20, 3 graphs",
        full="d = 10 to 100, 10 graphs",
    ),
    Item(
        "notears/sachs",
        "protein signalling, 7466 × 11, raw and standardised",
        "dagora.papers.notears.sachs:sachs",
        NOTEARS,
        quick="all 7466 rows, one run",
        full="all 7466 rows, one run",
        needs=(),
    ),
    Item(
        "admm/fig1",
        "federated linear networks over the number of variables: ADMM, voting, averaging, best, secure sums",
        "dagora.papers.admm.linear:fig1",
        ADMM,
        quick="d = 10 and 20, 3 runs",
        full="d = 10 to 100, 30 runs",
        needs=(MATPLOTLIB, CRYPTOGRAPHY_FOR_SITES),
    ),
    Item(
        "admm/fig2",
        "the same over the number of sites, 256 rows (figures 2 and 6)",
        "dagora.papers.admm.linear:fig2",
        ADMM,
        quick="d = 10 and 20, 2 to 64 sites, 3 runs",
        full="d = 10 to 50, 2 to 64 sites, 30 runs",
        needs=(MATPLOTLIB, CRYPTOGRAPHY_FOR_SITES),
    ),
    Item(
        "admm/fig3",
        "protein signalling, 512 of 853 rows spread over sites (figures 3 and 7)",
        "dagora.papers.admm.sachs:fig3",
        ADMM,
        quick="3 numbers of sites, 2 runs",
        full="2 to 64 sites, 30 runs",
        needs=(MATPLOTLIB, CRYPTOGRAPHY_FOR_SITES),
    ),
    Item(
        "admm/fig4",
        "federated networks of nonlinear relations (figures 4 and 8)",
        "dagora.papers.admm.nonlinear:fig4",
        ADMM,
        quick="d = 6, 128 rows, 2 runs",
        full="d = 50, 512 rows, 2 to 16 sites, 30 runs",
        needs=(MATPLOTLIB, CRYPTOGRAPHY_FOR_SITES, JAX),
    ),
    Item(
        "admm/fig4-d20",
        "the same with 20 variables and 256 rows",
        "dagora.papers.admm.nonlinear:fig4_d20",
        ADMM,
        quick="2 to 8 sites, 2 runs",
        full="2 to 8 sites, 10 runs",
        needs=(MATPLOTLIB, CRYPTOGRAPHY_FOR_SITES, JAX),
    ),
    Item(
        "admm/fig5",
        "votes on graphs that PC and FGES learn at each site, over the number of variables",
        "dagora.papers.admm.other_learners:fig5",
        ADMM,
        quick="d = 10, 20 and 50, 3 runs",
        full="d = 10 to 100, 30 runs",
        needs=(MATPLOTLIB, CRYPTOGRAPHY_FOR_SITES),
    ),
    Item(
        "admm/dynamic",
        "networks in time over sites that have series: ADMM, voting, averaging, one secure sum (section 5.2)",
        "dagora.papers.admm.dynamic:dynamic",
        ADMM,
        quick="d = 10 and 20, 2 to 32 sites, 5 runs",
        full="d = 10 to 50, 2 to 32 sites, 30 runs",
    ),
    Item(
        "admm/privacy",
        "each site's covariance, read off the published exchange and off sums of it",
        "dagora.papers.admm.privacy:privacy",
        ADMM,
        quick="4 and 8 sites, 3 runs",
        full="4, 8 and 64 sites, 10 runs",
        needs=(MATPLOTLIB, CRYPTOGRAPHY_FOR_SITES),
    ),
    Item(
        "gpn/fig1",
        "E-SHD and run time of posteriors under GP and BGe scores, from linear to nonlinear, n = 10",
        "dagora.papers.gpn.fig1:fig1",
        GPN,
        quick="4 graphs per row",
        full="100 graphs per row",
    ),
    Item(
        "gpn/fig1-n15",
        "the same with n = 15 and the published simulator",
        "dagora.papers.gpn.fig1:fig1_n15",
        GPN,
        quick="1 graph per row",
        full="100 graphs per row",
    ),
    Item(
        "gpn/fig1-others",
        "kernel PC, DiBS+ and the empty graph on the tables of figures 1 and 2, n = 10",
        "dagora.papers.gpn.others:fig1_others",
        GPN,
        quick="12 graphs per row, DiBS+ 1 and two of its settings",
        full="100 graphs per row, DiBS+ 20 and five of its settings",
    ),
    Item(
        "gpn/equivalence",
        "how far the GP scores of x → y and y → x are apart, from linear to nonlinear (appendix A.1)",
        "dagora.papers.gpn.equivalence:equivalence",
        GPN,
        quick="20 tables per λ",
        full="100 tables per λ",
    ),
    Item(
        "gpn/fig3",
        "divergence of sampled posteriors from the enumerated one at 4 nodes, over draws and time",
        "dagora.papers.gpn.fig3:fig3",
        GPN,
        quick="10 networks, up to 10,000 draws; times and DiBS+ on 3",
        full="10 networks, up to 100,000 draws; times and DiBS+ on 3",
    ),
    Item(
        "gpn/table1",
        "protein signalling, 853 × 11: GP and BGe, order and partition MCMC, against the consensus graph",
        "dagora.papers.gpn.table1:table1",
        GPN,
        quick="853 rows, GP (by bridge sampling, too) and BGe",
        full="853 rows, GP² too",
    ),
    Item(
        "gpn/table1-others",
        "kernel PC, DiBS+ and the empty graph on the proteins of table 1",
        "dagora.papers.gpn.table1_others:table1_others",
        GPN,
        quick="853 rows, 50 samples of them",
        full="853 rows, 200 samples of them",
        needs=(),
    ),
    Item(
        "private-k2/scaling",
        "time, bytes and memory of two owners over rows and variables, by mode and encryption",
        "dagora.papers.private_k2.scaling:scaling",
        PRIVATE_K2,
        quick="up to 10,000 rows and 12 variables",
        full="up to a million rows and 40 variables",
        needs=(MATPLOTLIB, *FOR_OWNERS, GMPY2),
    ),
    Item(
        "private-k2/growth",
        "bytes and gates of two owners over rows and over the limit on parents",
        "dagora.papers.private_k2.growth:growth",
        PRIVATE_K2,
        quick="up to 65,536 rows and 4 parents",
        full="up to a million rows and 6 parents",
        needs=FOR_OWNERS,
    ),
    Item(
        "private-k2/f-vs-g",
        "structures by the exact score f and by its approximation g",
        "dagora.papers.private_k2.f_vs_g:f_vs_g",
        PRIVATE_K2,
        quick="up to 10,000 rows, 10 runs",
        full="up to 100,000 rows, 100 runs",
        needs=(MATPLOTLIB, *FOR_OWNERS),
    ),
    Item(
        "private-k2/leak",
        "bits that the steps of an adaptive search tell beyond its graph",
        "dagora.papers.private_k2.leak:leak",
        PRIVATE_K2,
        quick="3 known and 3 random networks, up to 1,000 rows, 10 runs",
        full="3 known and 3 random networks, up to 10,000 rows, 100 runs",
        needs=(),
    ),
    Item(
        "private-k2/published",
        "the paper's shares of ln x and x ln x by Taylor series: their error, and a search beside ours",
        "dagora.papers.private_k2.published_search:make_experiment",
        PRIVATE_K2,
        quick="asia, 100 rows, 4 to 16 terms, one parent",
        full="asia, 100 and 1000 rows, 4 to 16 terms, up to two parents",
        needs=(*FOR_OWNERS, GMPY2),
    ),
    Item(
        "rbnets/table2",
        "seconds and BIC of A*, ILP, hill climbing, OBS, ASOBS, RBNets and order search",
        "dagora.papers.rbnets.table2:table2",
        RBNETS,
        quick="to 56 variables, 60 s an exact search, 5 seeds",
        full="19 of 20 data sets, to 1024 variables; 10 seeds, from 500 variables on 1",
        needs=(MATPLOTLIB, SCIP, JAX),
    ),
    Item(
        "rbnets/table2-rl-bic",
        "BIC and seconds of RL-BIC on the data sets of table 2, beside as many random DAGs",
        "dagora.papers.rbnets.table2_rl_bic:table2_rl_bic",
        RBNETS,
        quick="to 56 variables, 200 rounds of 64 graphs, 1 seed",
        full="to 56 variables, 20,000 rounds of 64 graphs or 1800 s, 1 seed",
        needs=(JAX,),
    ),
    Item(
        "rbnets/table3",
        "difference in BIC between RBNets and others, halves of tables, with null models",
        "dagora.papers.rbnets.differences:table3",
        RBNETS,
        quick="to 45 variables, 2 seeds",
        full="28 of 30 halves, to 1024 variables; 10 seeds, from 500 variables on 1",
        needs=(MATPLOTLIB, SCIP, JAX),
    ),
    Item(
        "rbnets/table4",
        "the same on samples of five networks, 200 to 5000 rows",
        "dagora.papers.rbnets.differences:table4",
        RBNETS,
        quick="3 networks, 200 and 1000 rows, 2 seeds",
        full="5 networks, 200 to 5000 rows, 10 seeds",
        needs=(MATPLOTLIB, SCIP, JAX),
    ),
)


def item_named(name: str) -> Item:
    """Find an item, or say which there are; one whose packages are missing is refused."""
    item = find("reproduction", name, {item.name: item for item in ITEMS})
    require_all(item.needs, f"the reproduction {item.name}")
    return item
