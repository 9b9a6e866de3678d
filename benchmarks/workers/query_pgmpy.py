"""pgmpy's answers, by variable elimination, to the questions in a job file: {"tables", "questions"}.

Variables and levels are numbers; a table comes as its parents, its shape and its flat entries, the node last.
"""

import json
import sys
from pathlib import Path

import numpy as np
from clock import hand_over, peak_memory, timed
from pgmpy.factors.discrete import TabularCPD
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteBayesianNetwork


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    network = DiscreteBayesianNetwork()
    network.add_nodes_from([str(node) for node in range(len(job["tables"]))])
    for node, table in enumerate(job["tables"]):
        network.add_edges_from([(str(parent), str(node)) for parent in table["parents"]])
    for node, table in enumerate(job["tables"]):
        *above, levels = table["shape"]
        entries = np.array(table["entries"]).reshape(-1, levels).T
        parents = [str(parent) for parent in table["parents"]]
        network.add_cpds(TabularCPD(str(node), levels, entries, parents or None, above or None))
    inference = VariableElimination(network)

    def answer(question):
        found = inference.query(
            [str(question["target"])], evidence=question["evidence"] or None, show_progress=False
        )
        return found.values.tolist()

    answers, seconds = [], []
    for question in job["questions"]:
        found, _, cpu = timed(lambda question=question: answer(question), job["limit"])
        answers.append(found)
        seconds.append(cpu)
    hand_over(answers=answers, seconds=seconds, peak=peak_memory())


main()
