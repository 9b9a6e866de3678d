"""You want to know how sure you may be: draw graphs from their posterior, and ask questions about them.

A chain of four quantities is simulated, with a fifth that has nothing to do with them.
"""

from __future__ import annotations

import dagora

TRUTH = dagora.DAG(
    ["rain", "river", "flood", "damage", "lottery"],
    [("rain", "river"), ("river", "flood"), ("flood", "damage")],
)


def main() -> None:
    """Sample, look whether the chains agree, then read probabilities."""
    table = dagora.simulate(TRUTH, "gaussian", 200, seed=3).table
    posterior = dagora.sample(table, method="partition", prior="sparse", draws=500, seed=1)

    judged = posterior.diagnostics
    print(f"{judged.chains} chains of {judged.draws} draws: R-hat {judged.rhat:.3f} (1 is perfect)")
    for warning in posterior.warnings:
        print(f"warning: {warning}")

    print("joined, whichever way:")
    for i, one in enumerate(table.names):
        for other in table.names[i + 1 :]:
            found = posterior.feature("adjacent", one, other)
            if found.mean > 0.02:
                print(f"  {one} — {other}: {found.mean:.3f}")

    # Rows alone cannot tell a chain from its reverse: both directions are probable.
    i, j = table.names.index("rain"), table.names.index("river")
    print(f"rain → river: {posterior.edge_probability[i, j]:.3f} ± {posterior.edge_error[i, j]:.3f}")
    print(f"rain reaches damage: {posterior.feature('path', 'rain', 'damage')}")
    graph, share = posterior.classes(1)[0]
    print(f"most probable class ({share:.2f}): {', '.join(' — '.join(edge) for edge in graph.undirected)}")

    dagora.write_report(posterior, "posterior.html", truth=TRUTH)
    print("written: posterior.html")


if __name__ == "__main__":
    main()
