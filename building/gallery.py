"""Draw the pictures of docs/gallery.md: `python building/gallery.py FOLDER`. All data are simulated here.

The pictures are small and kept in the repository; a test draws them anew and compares.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import dagora
from dagora.graph.drawing import draw_svg
from dagora.network.greenhouse import greenhouse

FIELD = dagora.DAG(
    ["lot", "weather", "yield", "price", "demand"],
    [("lot", "yield"), ("weather", "yield"), ("weather", "price"), ("demand", "price")],
)


@cache
def rows() -> dagora.Table:
    """Rows of a made-up greenhouse, whose network is known."""
    return dagora.sample_network(greenhouse(), 1000, seed=1)


@cache
def learned() -> dagora.Result:
    """What the default finds in them."""
    return dagora.learn(rows())


def dag() -> str:
    """A DAG: the true network."""
    return draw_svg(greenhouse().graph)


def cpdag() -> str:
    """A class of equivalent graphs, with what each edge is worth."""
    return learned().plot().svg


def comparison() -> str:
    """A graph that was found, beside the truth."""
    return draw_svg(dagora.learn(rows().take(range(200))).graph, truth=greenhouse().graph)


def posterior() -> str:
    """Edges of a consensus graph, with their probabilities."""
    found = dagora.sample(rows().take(range(200)), method="exact", score="bdeu")
    return draw_svg(found.consensus(), weights=found.edge_probability)


def strengths() -> str:
    """The graph that most samples of the rows agree on, with how often each pair is joined."""
    found = dagora.bootstrap(rows().take(range(200)), "hill-climb", samples=50)
    return draw_svg(found.consensus(), weights=found.adjacency_frequency)


def pag() -> str:
    """What can be said where nobody wrote the weather down."""
    table = dagora.simulate(FIELD, "gaussian", 2000, seed=1).table
    return dagora.learn(table.select(["lot", "yield", "price", "demand"]), "rfci").plot().svg


def weights() -> str:
    """Weights of a linear model, by NOTEARS."""
    return dagora.learn(dagora.simulate(FIELD, "gaussian", 1000, seed=1).table, "notears").plot().svg


def series() -> str:
    """Edges within a step and from the step before."""
    made = dagora.simulate_series(FIELD, steps=300, seed=2, series=2)
    return dagora.learn(made.table, "dynotears", time="t", series="series", lags=1).plot().svg


PICTURES = {
    made.__name__: made for made in (dag, cpdag, comparison, posterior, strengths, pag, weights, series)
}


def main(folder: str) -> None:
    """Draw all of them."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, made in PICTURES.items():
        (Path(folder) / f"{name}.svg").write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
