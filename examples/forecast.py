"""Two public series, from the table to forecasts: the economy of the United States, and sunspots.

The rows come with statsmodels, a package on the index that is no part of dagora: `pip install statsmodels`.
"""

import dagora

HELD_OUT = 40  # quarters that the graph does not know


def economy() -> dict[str, list[float]]:
    """Quarters 1959 to 2009: growth in per cent a year, and changes in points."""
    import numpy as np
    from statsmodels.datasets import macrodata

    rows = macrodata.load_pandas().data
    pairs = zip(rows["year"], rows["quarter"], strict=True)
    grown = {"output": "realgdp", "consumption": "realcons", "investment": "realinv"}
    columns = {name: 400 * np.diff(np.log(rows[source])) for name, source in grown.items()}
    columns |= {"unemployment": np.diff(rows["unemp"]), "interest": np.diff(rows["tbilrate"])}
    quarters = [f"{int(year)}-Q{int(quarter)}" for year, quarter in pairs]
    return {"quarter": quarters[1:], **{name: column.tolist() for name, column in columns.items()}}


def main() -> None:
    """Learn a graph, test its forecasts on later quarters, forecast a year, ask what a change does."""
    try:
        from statsmodels.datasets import sunspots
    except ImportError:
        print("statsmodels, which has the rows, is not there: pip install statsmodels")
        return
    rows = economy()
    before = {name: column[:-HELD_OUT] for name, column in rows.items()}
    result = dagora.learn(before, "dynotears", time="quarter", lags=2, standardise=True)
    graph = result.lagged_graph
    for tail, head in graph.window.edges:
        print(f"  {tail} → {head}")
    print(dagora.backtest(graph, rows, 1, HELD_OUT, time="quarter"))
    network = dagora.fit(graph, rows, time="quarter")
    ahead = network.forecast(rows, 4)
    times, means, intervals = ahead.one().times, ahead.mean("unemployment"), ahead.interval("unemployment")
    for time, mean, (low, high) in zip(times, means, intervals, strict=True):
        print(f"{time}: unemployment {mean:+.2f} points [{low:+.2f}, {high:+.2f}]")
    print(f"the oddest quarter: {network.score_rows(rows).unusual()[0].time}")
    print(dagora.effect_in_time(rows, "consumption", "unemployment", graph=graph, horizon=4, time="quarter"))

    years = sunspots.load_pandas().data  # their square roots vary alike at all levels
    spots = {"year": years["YEAR"].tolist(), "spots": (years["SUNACTIVITY"] ** 0.5).tolist()}
    cycle = dagora.LaggedGraph(["spots"], 9, [("spots", "spots", lag) for lag in (1, 2, 9)])  # drawn by hand
    print(dagora.backtest(cycle, spots, 3, 60, time="year"))
    ahead = dagora.fit(cycle, spots, time="year").forecast(spots, 11)
    highest = ahead.one().times[int(ahead.mean("spots").argmax())]
    print(f"after 2008 the next maximum is forecast for {highest}")


if __name__ == "__main__":
    main()
