"""In some rows a variable was set from outside: such rows show directions that others cannot.

A valve lets water into a tank, and the tank's level moves a float. From rows in which everybody only watched,
the chain cannot be told from its reverse. In other rows somebody set the level by hand.
"""

from __future__ import annotations

import numpy as np

import dagora


def watched_and_set(rows: int, seed: int) -> dict[str, list[object]]:
    """The first half was watched; in the second half the level was set to a random value."""
    rng = np.random.default_rng(seed)
    was_set = np.arange(rows) >= rows // 2
    valve = rng.normal(size=rows)
    level = np.where(was_set, rng.normal(size=rows), 0.9 * valve + 0.5 * rng.normal(size=rows))
    float_height = 1.2 * level + 0.5 * rng.normal(size=rows)
    return {
        "valve": list(valve),
        "level": list(level),
        "float": list(float_height),
        "set": list(np.where(was_set, "level", "")),
    }


def show(title: str, graph: dagora.CPDAG) -> None:
    """Print a class of graphs: an edge that stays open has no arrow."""
    lines = [f"{a} → {b}" for a, b in graph.edges] + [f"{a} — {b}" for a, b in graph.undirected]
    print(f"{title}: {', '.join(lines)}")


def main() -> None:
    """Learn without and with the rows in which the level was set."""
    rows = watched_and_set(1000, seed=1)
    watched = {name: values[:500] for name, values in rows.items() if name != "set"}
    show("from watching", dagora.learn(watched).cpdag)
    show("with rows in which the level was set", dagora.learn(rows, interventions="set").cpdag)


if __name__ == "__main__":
    main()
