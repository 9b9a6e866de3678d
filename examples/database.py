"""Rows are in a database, too many to load or not allowed to leave: let the database count.

A shop's orders are made up and put into a DuckDB file. Hill climbing then asks for counts of sets of columns,
and the database answers each round by itself. A PostgreSQL address takes the place of the file just as well.
"""

from __future__ import annotations

import duckdb

import dagora

TRUTH = dagora.DAG(
    ["season", "advert", "visits", "sale"], [("season", "visits"), ("advert", "visits"), ("visits", "sale")]
)
ORDERS = """
CREATE TABLE orders AS
WITH days AS (SELECT range AS day, hash(range) % 97 AS a, hash(range + 7919) % 89 AS b,
              hash(range + 104729) % 83 AS c, hash(range + 15485863) % 79 AS d FROM range(20000)),
     causes AS (SELECT *, a < 48 AS summer, b < 30 AS advert FROM days),
     visits AS (SELECT *, c < 10 + 25 * summer::int + 35 * advert::int AS many FROM causes)
SELECT if(summer, 'summer', 'winter') AS season, if(advert, 'yes', 'no') AS advert,
       if(many, 'many', 'few') AS visits, if(d < 10 + 50 * many::int, 'yes', 'no') AS sale
FROM visits
"""


def main() -> None:
    """Learn where the rows are, and look at what left the database."""
    with duckdb.connect("shop.db") as shop:
        shop.execute(ORDERS)
        rows = shop.sql("SELECT * FROM orders").to_arrow_table()  # only to compare with

    orders = dagora.open_rows("duckdb:shop.db", table="orders", push_down=True)
    result = dagora.learn(orders, method="hill-climb")
    print(f"{orders.n_rows} rows: {result.status}, {result.message}")
    for tail, head in result.graph.edges:
        print(f"  {tail} → {head}")
    print(f"queries that the database answered: {result.stats['queries']:.0f}")
    print(f"wrong edges, as a class of equivalent graphs: {dagora.compare(result.graph, TRUTH).cpdag.shd}")

    in_memory = dagora.learn(rows, method="hill-climb")
    print(f"same graph as from the rows in memory: {in_memory.graph == result.graph}")


if __name__ == "__main__":
    main()
