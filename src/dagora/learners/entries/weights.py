"""Continuous optimisation of the weights of a graph."""

from __future__ import annotations

from dagora.base.extras import JAX
from dagora.base.options import Option
from dagora.learners.method import NO_PARENT_LIMIT, Method

WEIGHTS = (
    Method(
        name="notears",
        summary="weights of an acyclic linear model, by continuous optimisation",
        takes="statistics",
        returns="dag",
        promise="exactly acyclic weights; many orders are compared after thresholding, unless published=true",
        reference="Zheng, Aragam, Ravikumar & Xing 2018; Bello, Aragam & Ravikumar 2022",
        learner="dagora.learners.optimise.notears:notears",
        obeys=NO_PARENT_LIMIT,
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
                "algorithm 1 of the paper and nothing after it but the cut of cycles that are left: weak "
                "weights are set to zero, the others not refitted",
            ),
            Option(
                "inner",
                "text",
                None,
                "the inner solver of published=true: split (the default) is that of the authors' code, "
                "L-BFGS-B on W⁺ − W⁻; proximal is that of the paper, quasi-Newton with an active set",
                choices=("split", "proximal"),
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
        name="notears-mlp",
        summary="NOTEARS with a small neural network per variable, for nonlinear relations",
        takes="statistics",
        returns="dag",
        promise="a DAG from a local optimum of the penalised fit; edges dropped to break cycles are listed",
        reference="Zheng, Dan, Aragam, Ravikumar & Xing 2020",
        learner="dagora.learners.optimise.mlp.notears_mlp:notears_mlp",
        obeys=NO_PARENT_LIMIT,
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
        learner="dagora.learners.optimise.additive.notears_sob:notears_sob",
        obeys=NO_PARENT_LIMIT,
        options=(
            Option("lambda1", "float", 0.03, "penalty on the strength of each edge", low=0.0),
            Option("lambda2", "float", 0.01, "ridge penalty on all coefficients", low=0.0),
            Option("threshold", "float", 0.2, "edges weaker than this are dropped", low=0.0),
            Option("functions", "int", 5, "basis functions per column; 1: linear", low=1, high=20),
            Option("standardise", "bool", False, "scale every column to variance 1 first"),
        ),
    ),
)
