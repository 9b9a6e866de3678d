"""Two public series, from the table to forecasts: the economy of the United States, and sunspots.

The rows come with statsmodels, a package on the index that is no part of dagora: `pip install statsmodels`.
"""

from __future__ import annotations

import dagora

LAGS = 2
HELD_OUT = 40  # quarters that the graph does not know


def economy() -> dict[str, list[float]]:
    """Quarters 1959 to 2009: growth in per cent a year, changes of unemployment and interest in points."""
    import numpy as np
    from statsmodels.datasets import macrodata

    rows = macrodata.load_pandas().data
    pairs = zip(rows["year"], rows["quarter"], strict=True)
    quarters = [f"{int(year)}-Q{int(quarter)}" for year, quarter in pairs]
    columns = {
        "output": 400 * np.diff(np.log(rows["realgdp"])),
        "consumption": 400 * np.diff(np.log(rows["realcons"])),
        "investment": 400 * np.diff(np.log(rows["realinv"])),
        "unemployment": np.diff(rows["unemp"]),
        "interest": np.diff(rows["tbilrate"]),
    }
    return {"quarter": quarters[1:], **{name: column.tolist() for name, column in columns.items()}}


def sunspots() -> dict[str, list[float]]:
    """Yearly sunspots from 1700 to 2008, as their square roots, which vary alike at all levels."""
    from statsmodels.datasets import sunspots as series

    rows = series.load_pandas().data
    return {"year": rows["YEAR"].tolist(), "spots": (rows["SUNACTIVITY"] ** 0.5).tolist()}


def forecast_the_economy() -> None:
    """Learn a graph, test its forecasts on later quarters, forecast a year, ask what a change does."""
    rows = economy()
    before = {name: column[:-HELD_OUT] for name, column in rows.items()}
    result = dagora.learn(before, "dynotears", time="quarter", lags=LAGS, standardise=True)
    graph = result.lagged_graph
    if graph is None:
        raise SystemExit(result.message)
    for tail, head in graph.window.edges:
        print(f"  {tail} → {head}")
    print(dagora.backtest(graph, rows, 1, HELD_OUT, time="quarter"))
    network = dagora.fit(graph, rows, time="quarter")
    ahead = network.forecast(rows, 4)
    for time, mean, (low, high) in zip(
        ahead.one().times, ahead.mean("unemployment"), ahead.interval("unemployment"), strict=True
    ):
        print(f"{time}: unemployment {mean:+.2f} points [{low:+.2f}, {high:+.2f}]")
    odd = network.score_rows(rows).unusual()[0]
    print(f"the oddest quarter: {odd.time}")
    found = dagora.effect_in_time(rows, "consumption", "unemployment", graph=graph, horizon=4, time="quarter")
    print(found)


def forecast_sunspots() -> None:
    """A graph drawn by hand: a cycle of about eleven years needs two lags, and the ninth helps."""
    rows = sunspots()
    graph = dagora.LaggedGraph(["spots"], 9, [("spots", "spots", lag) for lag in (1, 2, 9)])
    print(dagora.backtest(graph, rows, 3, 60, time="year"))
    ahead = dagora.fit(graph, rows, time="year").forecast(rows, 11)
    mean = ahead.mean("spots")
    print(f"after 2008 the next maximum is forecast for {ahead.one().times[int(mean.argmax())]}")


def main() -> None:
    """Both series."""
    try:
        import statsmodels  # noqa: F401
    except ImportError:
        print("statsmodels, which has the rows, is not there: pip install statsmodels")
        return
    forecast_the_economy()
    forecast_sunspots()


if __name__ == "__main__":
    main()
