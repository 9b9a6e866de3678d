"""Reports of each kind and size, made without long searches."""

from pathlib import Path

import numpy as np

import dagora
from dagora.graph.ancestral.pag import PAG
from dagora.graph.dag import DAG
from dagora.learners.result import Result, TracePoint
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network

NAMES = ("season", "cloud", "heating", "light", "temperature", "watering", "soil", "growth")


def garden() -> dagora.Table:
    return sample_network(greenhouse(), 1000, seed=1).select(NAMES)


def made_up(size: int, seed: int = 0) -> Result:
    """A random graph with strengths, as if it had been learned."""
    graph = dagora.random_dag("er", size, 1.3, seed=seed)
    strengths = np.random.default_rng(seed).gamma(1.0, 30.0, size=len(graph.edges))
    return Result(
        graph,
        "hill-climb",
        "finished",
        "made up",
        -100.0,
        "bic",
        edge_gains=dict(zip(graph.edges, strengths.tolist(), strict=True)),
        trace=(TracePoint(3.0, 0, -200.0), TracePoint(3.5, 1, -100.0)),
    )


def discrete(file: Path) -> Result:
    table = garden()
    result = dagora.learn(table, "hill-climb")
    dagora.write_report(result, file, network=dagora.fit(result.graph, table), table=table)
    return result


def continuous(file: Path) -> Result:
    graph = dagora.random_dag("er", 8, 1.5, seed=4)
    table = dagora.simulate(graph, "gaussian", 300, seed=4).table
    result = Result(graph, "hill-climb", "finished", "made up", weights=graph.to_numpy() * 1.5)
    dagora.write_report(result, file, network=dagora.fit(graph, table), table=table)
    return result


def pag(file: Path) -> Result:
    edges = [("a", "o->", "c"), ("b", "o->", "c"), ("c", "-->", "d"), ("d", "<->", "e"), ("f", "o-o", "g")]
    result = Result(PAG("abcdefgh", edges), "fci", "finished", "made up")
    dagora.write_report(result, file)
    return result


def in_time(file: Path) -> Result:
    names = ["w", "x", "y", "z"]
    nodes = [*names, *(f"{name}[t-1]" for name in names)]
    edges = [("x", "y"), ("x[t-1]", "x"), ("w[t-1]", "y"), ("z[t-1]", "y")]
    result = Result(DAG(nodes, edges), "dynotears", "finished", "made up")
    table = dagora.Table.from_numpy(np.random.default_rng(0).normal(size=(50, 4)), names=names)
    dagora.write_report(result, file, table=table)
    return result


def posterior(file: Path) -> dagora.Posterior:
    found = dagora.sample(garden(), method="partition", draws=30, chains=2)
    dagora.write_report(found, file, table=garden())
    return found


def strengths(file: Path) -> dagora.Strengths:
    found = dagora.bootstrap(garden(), "hill-climb", samples=5)
    dagora.write_report(found, file, table=garden())
    return found


def effect(file: Path) -> dagora.DAG:
    table = garden()
    light, growth = (table.schema[table.schema.index(name)].levels for name in ("light", "growth"))
    graph = greenhouse().graph
    kept = dagora.DAG(NAMES, [edge for edge in graph.edges if set(edge) <= set(NAMES)])
    found = dagora.effect(table, "light", "growth", graph=kept, levels=light[:2], event=growth[0])
    dagora.write_report(found, file)
    return kept


KINDS = {
    "discrete": discrete,
    "continuous": continuous,
    "pag": pag,
    "in time": in_time,
    "posterior": posterior,
    "strengths": strengths,
    "effect": effect,
}
