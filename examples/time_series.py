"""Rows follow each other in time: learn what acts within a step, and what acts from one step to the next.

Ten greenhouses are simulated for 200 hours each: light warms the air within the hour, and the air of the hour
before warms the soil. The truth is known, so that what was learned can be held against it.
"""

from __future__ import annotations

import numpy as np

import dagora

TRUE_WITHIN = {("light", "air")}
TRUE_LAGGED = {("light", "light", 1), ("air", "air", 1), ("air", "soil", 1), ("soil", "soil", 1)}


def greenhouses(number: int = 10, hours: int = 200, seed: int = 1) -> dict[str, list[float]]:
    """Columns of all greenhouses below each other, with their hour and their name."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[float]] = {name: [] for name in ("hour", "house", "light", "air", "soil")}
    for house in range(number):
        light = air = soil = 0.0
        for hour in range(hours):
            earlier = air
            light = 0.6 * light + rng.normal()
            air = 0.8 * light + 0.4 * air + rng.normal()
            soil = 0.7 * soil + 0.5 * earlier + rng.normal()
            for name, value in zip(columns, (hour, house, light, air, soil), strict=True):
                columns[name].append(value)
    return columns


def main() -> None:
    """Learn edges within an hour and from the hour before, with their weights."""
    rows = greenhouses()
    result = dagora.learn(rows, method="dynotears", time="hour", series="house", lags=1)
    graph = result.lagged_graph
    if graph is None or result.weights is None:
        raise SystemExit(result.message)
    weight = {
        (tail, head): result.weights[result.graph.nodes.index(tail), result.graph.nodes.index(head)]
        for tail, head in result.graph.edges
    }
    for (tail, head), value in sorted(weight.items()):
        print(f"  {tail} → {head}: {value:.1f}")
    print(f"edges within an hour as simulated: {set(graph.within.edges) == TRUE_WITHIN}")
    print(f"edges from the hour before as simulated: {set(graph.lagged) == TRUE_LAGGED}")
    result.plot().save("greenhouses.svg")
    print("written: greenhouses.svg")


if __name__ == "__main__":
    main()
