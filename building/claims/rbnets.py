"""RBNets: tables 2 to 4."""

from __future__ import annotations

from building.claims.row import FAILS, HOLDS, Row, entry, number, table

from dagora.papers.charts import ChartPanel, Series, draw_panels

POSITIVE = ("very positive", "strongly positive", "positive")
OTHERS = ("GHC", "OBS", "ASOBS")
GREEDY = "RBNets, greedy policy"
SEEDS = "5 seeds (lowest to highest)"


def rows() -> list[Row]:
    """Every claim."""
    return [fast(), quick_to_train(), *scores(), greedy(), rl_bic()]


def fast() -> Row:
    """Seconds on alarm, and on how many data sets something is faster and better."""
    quality = {row["data"]: row for row in table("rbnets-table2-quality")}
    seconds = {row["data"]: row for row in table("rbnets-table2-seconds")}
    beaten = [
        data
        for data, row in seconds.items()
        if any(
            first(row[other]) < first(row["RBNets"])
            and first(quality[data][other]) <= first(quality[data]["RBNets"])
            for other in ("A*", "ILP")
        )
    ]
    alarm = seconds["alarm*"]
    shown = ", ".join(
        f"{name} {alarm[column]}"
        for name, column in (("A*", "A*"), ("hill climbing", "GHC"), ("RBNets", "RBNets"))
    )
    theirs = ", ".join(alarm[f"{name}, paper"] for name in ("A*", "GHC", "RBNets"))
    return Row(
        "faster than exact and heuristic searches (4.5, table 2)",
        f"{FAILS}: on {len(beaten)} of {len(seconds)} tables A* or ILP is both faster and proved optimal",
        f"seconds on alarm: {shown}",
        theirs,
        f"to 56 variables, {SEEDS}",
        "rbnets/table2",
    )


def first(text: str) -> float:
    """The median of an entry, whose range stands in brackets."""
    return float(text.partition(" ")[0])


def quick_to_train() -> Row:
    """RBNets beside what the paper printed for it."""
    found = [row for row in table("rbnets-table2-seconds") if row["RBNets, paper"]]
    below = [row for row in found if first(row["RBNets"]) <= float(row["RBNets, paper"])]
    worst = max(first(row["RBNets"]) / float(row["RBNets, paper"]) for row in found)
    return Row(
        "its own seconds (4.5, table 2)",
        f"{HOLDS} on {len(below)} of {len(found)} data sets, as not longer; {FAILS} on "
        f"{len(found) - len(below)}, at most {worst:.1f} times as long",
        f"alarm {entry('rbnets-table2-seconds', 'RBNets', data='alarm*')}",
        entry("rbnets-table2-seconds", "RBNets, paper", data="alarm*"),
        f"to 56 variables, {SEEDS}",
        "rbnets/table2",
    )


def counts(item: str, method: str, against: str) -> tuple[int, int, int]:
    """On how many data sets a method's BIC is higher, alike (within 2) and lower."""
    found = {
        row["ΔBIC against"]: int(row[against])
        for row in table(f"rbnets-{item}-counts")
        if row["method"] == method
    }
    higher = sum(found[name] for name in POSITIVE)
    return higher, found["neutral"], sum(found.values()) - higher - found["neutral"]


def scores() -> list[Row]:
    """Table 3 and table 4 against each of the others."""
    made = []
    for item, words in (("table3", "unknown structures"), ("table4", "known structures")):
        here = {other: counts(item, "RBNets", other) for other in OTHERS}
        theirs = {other: counts(item, "RBNets", f"{other}, paper") for other in (*OTHERS, "RL-BIC")}
        lost = [other for other, (higher, _, lower) in here.items() if higher <= lower]
        verdict = f"{FAILS} against {', '.join(lost)}" if lost else HOLDS
        total = sum(next(iter(here.values())))
        made.append(
            Row(
                f"better scores than the others, {words} (4.6, {item[:-1]} {item[-1]})",
                verdict,
                f"BIC higher, alike, lower: {listed(here)}",
                listed(theirs) + " (of 30)",
                f"{total} tables, {SEEDS.partition(' (')[0]}; the paper: 30",
                f"rbnets/{item} --full",
            )
        )
    return made


def listed(found: dict[str, tuple[int, int, int]]) -> str:
    """Three counts against each method."""
    return ", ".join(f"{other} {'/'.join(map(str, three))}" for other, three in found.items())


def greedy() -> Row:
    """The order of the greedy policy, which section 3.1 takes, beside the best one seen."""
    worse = [counts(item, GREEDY, "GHC") for item in ("table3", "table4")]
    lower, total = sum(three[2] for three in worse), sum(map(sum, worse))
    alarm = {row["data"]: row for row in table("rbnets-table4-quality")}["alarm* 1000"]
    return Row(
        "the answer is the greedy policy's order (3.1)",
        f"{FAILS}: below hill climbing on {lower} of {total} tables",
        f"BIC below the optimum on alarm: greedy policy {alarm[GREEDY]}, best order seen {alarm['RBNets']}",
        "none",
        f"tables 3 and 4, {SEEDS}",
        "rbnets/table3 --full",
    )


def rl_bic() -> Row:
    """RL-BIC with all its rounds."""
    found = table("rbnets-table2-rl-bic-quality")
    better = [row for row in found if float(row["RL-BIC"]) < float(row["as many random DAGs"])]
    below = [row for row in found if float(row["RL-BIC"]) < float(row["GHC"])]
    efforts = table("rbnets-table2-rl-bic-efforts")
    largest = found[-1]
    seconds = max(float(row["wall s"]) for row in efforts)
    theirs = [counts(item, "RBNets", "RL-BIC, paper")[0] for item in ("table3", "table4")]
    rbnets = entry("rbnets-table2-quality", "RBNets", data=largest["data"])
    return Row(
        "RL-BIC is the best of the others, RBNets better still (4.5, 4.6)",
        f"{FAILS} with all its rounds: above hill climbing on {len(below)} of {len(found)} data sets, above "
        f"as many random DAGs on {len(better)}",
        f"BIC below the optimum on {largest['data']}: RL-BIC {number(largest['RL-BIC'], 0)}, RBNets "
        f"{rbnets}, hill climbing {number(largest['GHC'], 0)}; at most {seconds:.0f} s on a GPU",
        f"RBNets higher on {theirs[0]} and {theirs[1]} of 30",
        f"{efforts[0]['rounds']} rounds of 64 graphs, {len(found)} data sets, 1 seed",
        "rbnets/table2-rl-bic --full",
    )


def picture() -> str:
    """Seconds by the number of variables."""
    found = [row for row in table("rbnets-table2-seconds") if row["RBNets, paper"]]
    sizes = tuple(float(row["n"]) for row in found)
    names = (("RBNets", "RBNets"), ("A*", "A*"), ("hill climbing", "GHC"))
    ours = tuple(Series(name, sizes, tuple(first(row[column]) for row in found)) for name, column in names)
    theirs = [
        Series(
            name,
            tuple(float(row["n"]) for row in found if row[f"{column}, paper"] not in {"OT", "OM"}),
            tuple(
                float(row[f"{column}, paper"]) for row in found if row[f"{column}, paper"] not in {"OT", "OM"}
            ),
        )
        for name, column in names
    ]
    return draw_panels(
        [ChartPanel("here", ours), ChartPanel("the paper", tuple(theirs))],
        columns=2, x_label="variables", y_label="CPU seconds", title="RBNets: seconds by data set (table 2)",
        logarithmic_y=True,
    )  # fmt: skip
