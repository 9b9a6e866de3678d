"""Private K2: growth, the score g in the place of f, the same graph as on joined rows."""

from __future__ import annotations

from building.claims.row import FAILS, HOLDS, Row, entry, kept_cells, mean_interval, share_interval, table

from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.private_k2.growth import growth_in_parents, growth_in_rows

NETWORKS, ROWS = ("asia", "alarm", "random"), ("100", "1000", "10000")


def rows() -> list[Row]:
    """Every claim."""
    sessions = table("private-k2-f-vs-g-sessions")
    equal = [row["against the clear"] == "the same graph" for row in sessions]
    wrong = {network: differing(network) for network in NETWORKS}
    return [
        Row(
            "the graph is that of K2 on joined rows (3)",
            HOLDS if all(equal) else FAILS,
            f"in {share_interval(sum(equal), len(equal))} sessions of two processes",
            "none",
            "asia, random networks, 300 to 500 rows",
            "private-k2/f-vs-g",
        ),
        Row(
            "g may stand for f (asked for in 6)",
            FAILS,
            "another graph with 10,000 rows: "
            + ", ".join(f"{network} {share}" for network, share in wrong.items())
            + "; edges of alarm with 100 rows: "
            + " and ".join(
                mean_interval("private-k2-f-vs-g-scores", f"edges {score}", 1, network="alarm", n="100")
                for score in "fg"
            )
            + " (f and g; the network has 46)",
            "none",
            "10 samples a line",
            "private-k2/f-vs-g",
        ),
        *growth(),
        Row(
            "what the steps tell beyond the graph is left open (6)",
            "measured",
            "bits at most, 1000 rows: "
            + ", ".join(
                f"{network} "
                + mean_interval(
                    "private-k2-leak", "bits of the sequence, at most", 1, network=network, n="1000"
                )
                for network in ("asia", "alarm")
            ),
            "none",
            "100 samples",
            "private-k2/leak --full",
        ),
    ]


def differing(network: str) -> str:
    """In how many samples of 10,000 rows g leads to another graph."""
    where = {"network": network, "n": "10000"}
    runs = int(entry("private-k2-f-vs-g-scores", "runs", **where))
    share = float(entry("private-k2-f-vs-g-scores", "g ≠ f", **where).removesuffix(" %"))
    return share_interval(round(runs * share / 100), runs)


def growth() -> list[Row]:
    """Linear in rows, exponential in the limit on parents: by the rules of the page."""
    cells = kept_cells("private-k2-growth")
    rows, parents = growth_in_rows(cells), growth_in_parents(cells)
    moments, total = (", ".join(f"{slope:.3f}" for slope in some) for some in (rows.moments, rows.both_ways))
    few, many = min(rows.rows), max(rows.rows)
    falls = "what a row adds falls by more than 10 %"
    added = "what a row adds is the same within 10 %" if rows.linear else falls
    return [
        Row(
            "communication is linear in the rows n (4)",
            f"{HOLDS}, as not faster than linear; {added}" if rows.not_faster else FAILS,
            f"MB for a further thousand rows: {moments} for the dot products, the only part in which the "
            f"paper has n; {total} in all (counts)",
            "order of growth",
            f"{few} to {many:,} rows, at most 2 parents",
            "private-k2/growth",
        ),
        Row(
            "and exponential in the limit u on parents (4)",
            f"{HOLDS if parents.by_configurations else FAILS}, as gates that follow the 2ⁱ configurations of "
            f"i parents that K2 tries; {'' if parents.doubled else 'not '}each parent more doubles them",
            f"{', '.join(f'{rate:.1f}' for rate in parents.rates)} thousand gates a configuration; with a "
            f"parent more {', '.join(f'{factor:.2f}' for factor in parents.factors)} times the gates "
            "(counts)",
            "order of growth",
            "u = 1 to 4, 4096 rows",
            "private-k2/growth",
        ),
    ]


def picture() -> str:
    """How often g leads to another graph than f, and gates over the limit on parents."""
    shares = tuple(
        Series(
            network,
            tuple(float(n) for n in ROWS),
            tuple(
                float(entry("private-k2-f-vs-g-scores", "g ≠ f", network=network, n=n).removesuffix(" %"))
                for n in ROWS
            ),
        )
        for network in NETWORKS
    )
    gates = [
        (float(row["u"]), float(row["M AND gates"]))
        for row in table("private-k2-growth")
        if row["n"] == "4096"
    ]
    return draw_panels(
        [
            ChartPanel("g ≠ f, % of samples, over rows", shares),
            ChartPanel("million gates, over the limit u", (Series("4096 rows", *zip(*gates, strict=True)),)),
        ],
        columns=2, x_label="", y_label="", title="Private K2: the approximation g, and growth", share_y=False,
        logarithmic_x=True,
    )  # fmt: skip
