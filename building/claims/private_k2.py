"""Private K2: growth, the score g in the place of f, the same graph as on joined rows."""

from __future__ import annotations

from itertools import pairwise

from building.claims.row import FAILS, HOLDS, Row, entry, mean_interval, share_interval, table

from dagora.papers.charts import ChartPanel, Series, draw_panels

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
    """Linear in rows, exponential in the limit on parents."""
    cells = [(int(row["n"]), int(row["u"]), row) for row in table("private-k2-growth")]
    by_rows = [(n, float(row["MB of moments"])) for n, u, row in cells if u == 2]
    slopes = [1000 * (b - a) / (m - n) for (n, a), (m, b) in pairwise(by_rows)]
    by_limit = [
        1000 * float(row["M AND gates"]) / int(row["configurations"])
        for n, _, row in cells
        if n == by_rows[0][0]
    ]
    return [
        Row(
            "communication is linear in the rows n (4)",
            f"{HOLDS}: what a row adds does not grow" if slopes[-1] <= slopes[0] else FAILS,
            f"{', '.join(f'{slope:.3f}' for slope in slopes)} MB for a further thousand rows (counts)",
            "order of growth",
            f"{by_rows[0][0]} to {by_rows[-1][0]:,} rows, at most 2 parents",
            "private-k2/growth",
        ),
        Row(
            "and exponential in the limit u on parents (4)",
            f"{HOLDS}: gates follow the 2ⁱ configurations of i parents"
            if max(by_limit) < 1.2 * min(by_limit)
            else FAILS,
            f"{', '.join(f'{gates:.1f}' for gates in by_limit)} thousand gates a configuration (counts)",
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
