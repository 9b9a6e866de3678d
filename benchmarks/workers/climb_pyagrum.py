"""pyAgrum's greedy hill climbing with plain BIC: no prior, no limit on parents. 0 threads: its default.

With the word `tabu` among the last arguments it is its local search with a tabu list, as that comes; with the
word `bdeu` the score is BDeu in the place of BIC.
"""

import sys

import pyagrum
from clock import hand_over, peak_memory, timed


def main() -> None:
    file, threads, limit = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    # The rows are read and coded here, not while learning.
    learner, load, _ = timed(lambda: pyagrum.BNLearner(file))
    if "tabu" in sys.argv[4:]:
        learner.useLocalSearchWithTabuList()
    else:
        learner.useGreedyHillClimbing()
    if "bdeu" in sys.argv[4:]:
        learner.useScoreBDeu()
    else:
        learner.useScoreBIC()
    learner.useNoPrior()
    learner.setNumberOfThreads(threads)
    # The graph alone: learnBN would also fit parameters.
    graph, wall, cpu = timed(learner.learnDAG, limit)
    edges = [(learner.nameFromId(tail), learner.nameFromId(head)) for tail, head in graph.arcs()]
    hand_over(load=load, wall=wall, cpu=cpu, edges=edges, peak=peak_memory())


main()
