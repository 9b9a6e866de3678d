"""Two versions of dagora beside each other: the same answers to the last bit, and the same time.

    python benchmarks/before_after.py answers OLD/src NEW/src [--only TEXT]
    python benchmarks/before_after.py times OLD/src NEW/src [--repeats 7]

OLD and NEW are the `src` folders of two checkouts. Every run goes through public functions and the command,
so that everything inside may have been rebuilt between them. `answers` compares the digest of every result:
graphs, scores and weights with all their bits, posteriors, parameters, queries. `times` compares
CPU seconds of warm processes, in turns, as medians.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

HERE = Path(__file__).resolve()
Work = Callable[[], object]


@cache
def discrete(rows: int = 400, network: str = "") -> Any:
    """Rows of a random discrete network, or of one of the reference data."""
    import dagora

    if network:
        folder = Path(os.environ.get("DAGORA_DATA", HERE.parents[2] / "shared" / "data"))
        return dagora.sample_network(
            dagora.read_network(folder / "networks" / f"{network}.bif.gz"), rows, seed=1
        )
    import numpy as np

    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    c = (a + b + (rng.random(rows) < 0.2)) % 3
    d = (c > 0) ^ (rng.random(rows) < 0.1)
    e = (d + b + (rng.random(rows) < 0.3)) % 2
    f = rng.integers(0, 4, rows)
    columns = {"a": a, "b": b, "c": c, "d": d.astype(int), "e": e, "f": f}
    return dagora.Table.from_frame(
        frame_of({name: [f"v{x}" for x in column] for name, column in columns.items()})
    )


def frame_of(columns: dict[str, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


@cache
def continuous(noise: str = "gaussian", nodes: int = 6, rows: int = 300) -> Any:
    """Rows of a random linear network."""
    import dagora

    return dagora.simulate(dagora.random_dag("er", nodes, 1.0, seed=3), noise, rows, seed=3).table


@cache
def mixed(rows: int = 300, *, missing: bool = False) -> Any:
    """Rows with columns of both kinds, with missing values if wanted."""
    import numpy as np

    import dagora

    rng = np.random.default_rng(11)
    g = rng.integers(0, 3, rows)
    x = rng.normal(size=rows) + g
    y = 0.8 * x + rng.normal(size=rows)
    h = (y + rng.normal(size=rows) > 1).astype(int)
    columns = {
        "g": [f"g{v}" for v in g], "x": x, "y": y, "h": ["no" if v == 0 else "yes" for v in h],
        "z": rng.normal(size=rows),
    }  # fmt: skip
    frame = frame_of(columns)
    if missing:
        for place, name in enumerate(frame.columns):
            frame.loc[rng.random(rows) < 0.05 + 0.01 * place, name] = None
        return frame
    return dagora.Table.from_frame(frame)


@cache
def series() -> Any:
    """Three series with an effect of the step before."""
    import numpy as np

    rng = np.random.default_rng(5)
    x = np.zeros((200, 3))
    for t in range(1, 200):
        x[t] = 0.5 * x[t - 1] + rng.normal(size=3)
        x[t, 1] += 0.7 * x[t, 0]
        x[t, 2] += 0.6 * x[t - 1, 1]
    return frame_of({"t": np.arange(200), "x": x[:, 0], "y": x[:, 1], "z": x[:, 2]})


def bits(value: Any) -> Any:
    """A value with all its bits, in a form that JSON can hold."""
    import numpy as np

    if isinstance(value, dict):
        return {str(key): bits(each) for key, each in sorted(value.items(), key=lambda item: str(item[0]))}
    if isinstance(value, list | tuple):
        return [bits(each) for each in value]
    if isinstance(value, np.ndarray):
        return [
            str(value.dtype),
            list(value.shape),
            hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest(),
        ]
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    return value if value is None or isinstance(value, str | int | bool) else str(value)


# What differs from run to run, or names the program: not part of an answer.
VOLATILE = {"command", "seconds", "versions", "trace", "stats", "message", "warnings", "data", "settings"}


def answer_of(result: Any) -> Any:
    """The answer in a result of any kind."""
    if hasattr(result, "to_dict"):
        content = result.to_dict()
        return bits({key: each for key, each in content.items() if key not in VOLATILE})
    if hasattr(result, "to_pandas"):
        return result.to_pandas().to_csv()
    return bits(result)


def learn(table: Callable[[], Any], method: str, **options: Any) -> object:
    import dagora

    result = dagora.learn(table(), method, **{"seed": 1, **options})
    return [answer_of(result), bits(getattr(result, "weights", None))]


def sample(table: Callable[[], Any], method: str, **options: Any) -> object:
    import dagora

    found = dagora.sample(table(), method, **{"seed": 1, "draws": 50, "chains": 2, **options})
    return bits(found.edge_probability)


KNOWN = {"required": [["x0", "x1"]], "forbidden": [["x2", "x3"]]}
KNOWN_DISCRETE = {"forbidden": [["a", "c"]], "tiers": [["a", "b"], ["c", "d", "e", "f"]], "max_parents": 2}


def works() -> Iterator[tuple[str, Work]]:
    """Every run, with its name."""
    import dagora

    searches = [
        "auto",
        "hill-climb",
        "tabu",
        "boss",
        "obs",
        "asobs",
        "order-search",
        "dynamic",
        "astar",
        "ilp",
        "rbnets",
    ]
    tables = {"discrete": discrete, "continuous": continuous, "mixed": mixed}
    for method in searches:
        for kind, table in tables.items():
            yield f"{method} {kind}", partial(learn, table, method)
        yield f"{method} discrete bdeu ess 5", partial(learn, discrete, method, score="bdeu", ess=5)
        yield f"{method} discrete k2", partial(learn, discrete, method, score="k2")
        yield f"{method} continuous bge", partial(learn, continuous, method, score="bge")
        yield f"{method} knowledge", partial(learn, discrete, method, knowledge=KNOWN_DISCRETE)
    for score in ("bic", "aic", "bdeu"):
        yield f"ges {score}", partial(learn, discrete, "ges", score=score)
    for score in ("bic-gaussian", "bge"):
        yield f"ges {score}", partial(learn, continuous, "ges", score=score)
    yield "k2", partial(learn, discrete, "k2", score="k2", order="a,b,c,d,e,f")
    for score in ("lasso", "gp", "gp2"):
        yield (
            f"hill-climb {score}",
            partial(learn, partial(continuous, rows=80, nodes=4), "hill-climb", score=score),
        )
    yield "hill-climb bayes-mixed", partial(learn, mixed, "hill-climb", score="bayes-mixed")
    yield "rl-bic", partial(learn, partial(continuous, nodes=4), "rl-bic", rounds=20)
    for method in ("notears", "notears-sob", "lingam", "ica-lingam", "pc", "fci", "rfci", "dual-pc"):
        for noise in ("gaussian", "exponential", "gumbel"):
            yield f"{method} {noise}", partial(learn, partial(continuous, noise), method)
    for lambda1 in (0.0, 0.02, 0.3):
        yield (
            f"notears lambda {lambda1}",
            partial(learn, partial(continuous, nodes=20), "notears", lambda1=lambda1),
        )
    yield "notears knowledge", partial(learn, continuous, "notears", knowledge=KNOWN)
    yield "notears published", partial(learn, partial(continuous, nodes=5), "notears", published=True)
    yield "notears-mlp", partial(learn, partial(continuous, nodes=4, rows=100), "notears-mlp")
    yield "dynotears", partial(learn, series, "dynotears", time="t", lags=1)
    yield "dynotears 2 lags", partial(learn, series, "dynotears", time="t", lags=2)
    for method in ("kpc-hsic", "kpc-dc"):
        yield method, partial(learn, partial(continuous, nodes=4, rows=80), method)
    for method in ("pc", "fci", "rfci"):
        for kind, table in (("discrete", discrete), ("mixed", mixed)):
            for alpha in (0.01, 0.1):
                yield f"{method} {kind} alpha {alpha}", partial(learn, table, method, alpha=alpha)
    for method in ("auto", "hill-climb", "ges"):
        yield (
            f"{method} missing",
            partial(learn, partial(mixed, missing=True), method if method != "ges" else "tabu"),
        )
        yield (
            f"{method} drop",
            partial(
                learn, partial(mixed, missing=True), method if method != "ges" else "tabu", missing="drop"
            ),
        )
    yield "discretise", partial(learn, continuous, "tabu", discretise="quantile", bins=3)
    for seed in range(3):
        for method in ("partition", "order"):
            yield f"{method} bge seed {seed}", partial(sample, continuous, method, score="bge", seed=seed)
            yield f"{method} bdeu seed {seed}", partial(sample, discrete, method, score="bdeu", seed=seed)
    yield "exact bge", partial(sample, continuous, "exact", score="bge")
    yield "exact bdeu", partial(sample, discrete, "exact", score="bdeu")
    yield "dibs bge", partial(sample, partial(continuous, nodes=4), "dibs", score="bge")
    yield (
        "partition gp",
        partial(sample, partial(continuous, nodes=3, rows=40), "partition", score="gp", draws=10),
    )
    for score in ("bic", "aic", "bdeu", "k2"):
        yield (
            f"candidates {score}",
            lambda score=score: [
                bits(each.scores) for each in dagora.candidates(discrete(), score, max_parents=3)
            ],
        )
    for score in ("bic-gaussian", "bge", "lasso"):
        yield (
            f"candidates {score}",
            lambda score=score: [
                bits(each.scores) for each in dagora.candidates(continuous(), score, max_parents=3)
            ],
        )
    for kind, table in tables.items():
        for resample in ("rows", "halves"):
            yield (
                f"bootstrap {kind} {resample}",
                lambda table=table, resample=resample: bits(
                    dagora.bootstrap(
                        table(), "hill-climb", samples=8, seed=2, resample=resample
                    ).edge_frequency
                ),
            )
        yield f"fit {kind}", lambda table=table: json.dumps(fit_of(table()), sort_keys=True)
        yield f"score {kind}", lambda table=table: bits(dagora.score(table(), learned(table)))
        yield (
            f"likelihood {kind}",
            lambda table=table: bits(dagora.log_likelihood(dagora.fit(learned(table), table()), table())),
        )
        yield (
            f"draw {kind}",
            lambda table=table: str(
                dagora.sample_network(dagora.fit(learned(table), table()), 20, seed=4).to_pandas()
            ),
        )
    yield (
        "impute",
        lambda: (
            dagora.impute(dagora.fit(learned(mixed), mixed()), partial(mixed, missing=True)(), seed=1)
            .table.to_pandas()
            .to_csv()
        ),
    )
    for order in ("er", "sf"):
        for noise in ("gaussian", "exponential", "logistic", "poisson", "mlp"):
            yield f"simulate {order} {noise}", partial(simulated, order, noise)
    yield "query discrete", lambda: str(dagora.fit(learned(discrete), discrete()).query("P(e | a=v1)"))
    yield "query mixed", lambda: str(dagora.fit(learned(mixed), mixed()).query("P(h | x=0.5)"))
    for method in ("hill-climb", "tabu", "pc", "ges", "order-search"):
        yield f"sites {method}", partial(over_sites, discrete, method)
    for method in ("notears", "admm", "vote", "average"):
        yield f"sites {method}", partial(over_sites, partial(continuous, rows=600), method)
    yield "two owners", two_owners
    yield "scanned", partial(scanned, discrete)
    yield "scanned mixed", partial(scanned, mixed)
    for arguments in (("inspect",), ("learn", "--method", "tabu", "--json"), ("score", "--score", "bic")):
        yield "command " + " ".join(arguments), partial(command, arguments)


def simulated(order: str, noise: str) -> object:
    import dagora

    made = dagora.simulate(dagora.random_dag(order, 8, 2, seed=2), noise, 30, seed=2)
    return made.table.to_pandas().to_csv()


def imputed() -> object:
    import dagora

    network = dagora.fit(learned(mixed), mixed())
    return dagora.impute(network, mixed(missing=True), seed=1).table.to_pandas().to_csv()


@cache
def learned(table: Callable[[], Any]) -> Any:
    import dagora

    return dagora.learn(table(), "tabu").graph


def fit_of(table: Any) -> Any:
    import dagora

    network = dagora.fit(dagora.learn(table, "tabu").graph, table)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "network.json"
        dagora.write_network(network, file)
        return json.loads(file.read_text())


def parts(table: Any, sites: int) -> dict[str, Any]:
    frame = table.to_pandas()
    return {f"s{i}": frame.iloc[i::sites].reset_index(drop=True) for i in range(sites)}


def over_sites(table: Callable[[], Any], method: str, **options: Any) -> object:
    import dagora

    return answer_of(dagora.learn_federated(parts(table(), 3), method, seed=1, **options))


def two_owners() -> object:
    import dagora

    frame = discrete(60).to_pandas()
    frame["id"] = [f"p{i}" for i in range(len(frame))]
    mine, yours = frame[["id", "a", "c", "e"]], frame[["id", "b", "d"]]
    return answer_of(dagora.learn_private(mine, yours, key="id", max_parents=2))


def scanned(table: Callable[[], Any]) -> object:
    import dagora

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        dagora.write_table(table(), file)
        return answer_of(dagora.learn(dagora.open_rows(file), "hill-climb"))


def command(arguments: tuple[str, ...]) -> object:
    import dagora

    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "rows.csv", Path(folder) / "out.jkl"
        dagora.write_table(discrete(), file)
        more = ("-o", str(out)) if arguments[0] == "score" else ()
        done = subprocess.run(
            [sys.executable, "-m", "dagora", arguments[0], str(file), *arguments[1:], *more],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        if out.exists():
            return out.read_text()
        if "--json" in arguments:
            content = json.loads(done.stdout)
            return bits({key: each for key, each in content.items() if key not in VOLATILE})
        return done.stdout.replace(folder, "")


def timed() -> dict[str, Work]:
    """The twelve works whose time is watched."""
    import dagora

    def garble() -> None:
        frame = discrete(60).to_pandas()
        frame["id"] = [f"p{i}" for i in range(len(frame))]
        dagora.learn_private(frame[["id", "a", "c", "e"]], frame[["id", "b", "d"]], key="id", max_parents=2)

    alarm = partial(discrete, network="alarm")
    wide = partial(continuous, nodes=50, rows=1000)
    return {
        "hill-climb, alarm × 10 000": lambda: dagora.learn(alarm(10_000), "hill-climb"),
        "tabu, alarm × 10 000": lambda: dagora.learn(alarm(10_000), "tabu"),
        "order-search, alarm × 1000": lambda: dagora.learn(alarm(1000), "order-search"),
        "ilp, alarm × 1000": lambda: dagora.learn(alarm(1000), "ilp"),
        "ges, 50 columns": lambda: dagora.learn(wide(), "ges"),
        "notears, 50 columns": lambda: dagora.learn(wide(), "notears"),
        "candidates, alarm × 1000": lambda: dagora.candidates(alarm(1000), "bic"),
        "partition MCMC": lambda: dagora.sample(
            continuous(nodes=10), "partition", score="bge", draws=200, chains=2
        ),
        "order MCMC": lambda: dagora.sample(continuous(nodes=10), "order", score="bge", draws=200, chains=2),
        "exact posterior": lambda: dagora.sample(continuous(nodes=10), "exact", score="bge", draws=200),
        "dual-pc, 50 columns": lambda: dagora.learn(wide(), "dual-pc"),
        "two owners, 60 rows": garble,
    }


def serve_answers(only: str) -> None:
    """Print a line per run: its name and the digest of its answer."""
    warnings.simplefilter("ignore")
    for name, work in works():
        if only in name:
            try:
                text = json.dumps(work(), sort_keys=True)
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
                print(f"refused\t{name}\t{text[:200]}", file=sys.stderr)
            print(f"{name}\t{hashlib.sha256(text.encode()).hexdigest()[:16]}", flush=True)


def serve_times() -> None:
    """Measure each work that is asked for by name on standard input."""
    warnings.simplefilter("ignore")
    known = timed()
    for name in known:
        known[name]()
    print("ready", flush=True)
    for line in sys.stdin:
        start = process_time()
        known[line.strip()]()
        print(process_time() - start, flush=True)


def process(source: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(source).resolve()), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, str(HERE), *arguments], env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def compare_answers(old: str, new: str, only: str) -> None:
    both = [
        dict(line.rstrip().split("\t") for line in process(each, "serve-answers", "--only", only).stdout)
        for each in (old, new)
    ]
    differing = [name for name in both[0] if both[0][name] != both[1].get(name)]
    for name in differing:
        print(f"differs: {name}")
    print(f"{len(both[0])} runs, {len(both[0]) - len(differing)} the same to the last bit")
    sys.exit(bool(differing) or both[0].keys() != both[1].keys())


def compare_times(old: str, new: str, repeats: int) -> None:
    helpers = [process(each, "serve-times") for each in (old, new)]
    for helper in helpers:
        assert helper.stdout.readline().strip() == "ready"
    print("| work | before, ms | after, ms | ratio |\n|---|---|---|---|")
    for name in timed():
        seconds: list[list[float]] = [[], []]
        for turn in range(repeats):
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                helpers[which].stdin.write(f"{name}\n")
                helpers[which].stdin.flush()
                seconds[which].append(float(helpers[which].stdout.readline()))
        before, after = median(seconds[0]), median(seconds[1])
        print(f"| {name} | {1000 * before:.1f} | {1000 * after:.1f} | {after / before:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("answers", "times", "serve-answers", "serve-times"))
    parser.add_argument("sources", nargs="*", help="OLD/src NEW/src")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=7)
    chosen = parser.parse_args()
    if chosen.what == "serve-answers":
        serve_answers(chosen.only)
    elif chosen.what == "serve-times":
        serve_times()
    elif chosen.what == "answers":
        compare_answers(*chosen.sources, chosen.only)
    else:
        compare_times(*chosen.sources, chosen.repeats)


if __name__ == "__main__":
    main()
