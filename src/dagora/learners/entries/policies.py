"""Reinforcement learning: policies that are trained to build graphs."""

from __future__ import annotations

from dagora.base.extras import JAX
from dagora.base.options import Option
from dagora.learners.method import Method

POLICIES = (
    Method(
        name="rbnets",
        seldom=True,
        summary="reinforcement learning over orders, combined with an order search; for comparisons",
        takes="candidates",
        returns="dag",
        promise="the best network over all orders tried; order-search gets there faster",
        reference="Zheng, Wang, Gao & Chen 2023",
        learner="dagora.learners.search.rbnets.rbnets:rbnets",
        growth="parent sets",
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
        learner="dagora.learners.search.rl_bic.rl_bic:rl_bic",
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
)
