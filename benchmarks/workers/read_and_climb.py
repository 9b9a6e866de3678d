"""Read a table in a fresh process, and learn from it where a number of threads is given; time and memory."""

import sys

from clock import hand_over, peak_memory, timed

import dagora


def main() -> None:
    file, threads = sys.argv[1], int(sys.argv[2])
    table, reading, _ = timed(lambda: dagora.read_table(file))
    outcome: dict[str, object] = {"rows": table.n_rows, "columns": len(table.names), "reading": reading}
    outcome["reading_peak"] = peak_memory()
    if threads:
        result, wall, cpu = timed(
            lambda: dagora.learn(table, "hill-climb", score="bic", penalty=1.0, jobs=threads)
        )
        outcome |= {"wall": wall, "cpu": cpu, "peak": peak_memory(), "edges": result.graph.edges}
        outcome |= {"status": result.status, "score": result.score, "steps": result.stats["steps"]}
        truth = dagora.read_graph(sys.argv[3])
        outcome["truth_score"] = dagora.score(table, truth, score="bic")
    hand_over(**outcome)


main()
