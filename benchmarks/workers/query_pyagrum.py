"""pyAgrum's answers to the questions in a job file: {"tables", "questions", "limit"}.

Variables and levels are numbers. A table comes as its parents, its shape and its flat entries, the node last;
its reader of BIF keeps single precision only. Each question gets an inference of its own, with
one target, as a user would ask it; the CPU seconds of each are handed over.
"""

import json
import sys
from pathlib import Path

import pyagrum
from clock import hand_over, peak_memory, timed


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    network = pyagrum.BayesNet()
    for node, table in enumerate(job["tables"]):
        network.add(pyagrum.LabelizedVariable(f"x{node}", "", table["shape"][-1]))
    for node, table in enumerate(job["tables"]):
        for parent in reversed(table["parents"]):  # its first axis is the fastest
            network.addArc(parent, node)
        network.cpt(node).fillWith(table["entries"])

    def answer(question):
        inference = pyagrum.LazyPropagation(network)
        inference.setNumberOfThreads(1)
        inference.setEvidence({int(node): level for node, level in question["evidence"].items()})
        inference.addTarget(question["target"])
        inference.makeInference()
        return inference.posterior(question["target"]).tolist()

    answers, seconds = [], []
    for question in job["questions"]:
        found, _, cpu = timed(lambda question=question: answer(question), job["limit"])
        answers.append(found)
        seconds.append(cpu)
    hand_over(answers=answers, seconds=seconds, peak=peak_memory())


main()
