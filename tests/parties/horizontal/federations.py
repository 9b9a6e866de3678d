"""Federations for tests of learners: sites made of a simulated table, and one that writes down what it sees."""

import numpy as np

from dagora.data.partition import split_rows
from dagora.graph.random_graphs import random_dag
from dagora.network.simulate import simulate
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.transport.messages import decode, encode


def simulated(d, n, seed, sem="gaussian"):
    truth = random_dag("er", d, 1, seed)
    return truth, simulate(truth, sem, n, seed + 1000).table


def sites_of(tables):
    return [Site(f"site{k:02d}", table) for k, table in enumerate(tables)]


def open_federation(table, parties, sizes=None):
    return OpenFederation.over(sites_of(split_rows(table, parties, sizes=sizes)), TASKS)


class Recording:
    """Sends questions as bytes, and writes down all that it sees."""

    def __init__(self, tables, tasks=TASKS):
        self.sites, self.tasks = sites_of(tables), tasks
        self.asked, self.gathered = [], []

    @property
    def parties(self):
        return tuple(site.name for site in self.sites)

    @property
    def schema(self):
        return OpenFederation.over(self.sites, self.tasks).schema

    def moments(self):
        return OpenFederation.over(self.sites, self.tasks).moments()

    def _answers(self, task, question):
        question = decode(encode(question))
        self.asked.append((task, question))
        return [self.tasks[task](site, question) for site in self.sites]

    def gather(self, task, question):
        self.gathered.append(task)
        return dict(zip(self.parties, self._answers(task, question), strict=True))

    def shapes(self):
        return [
            (task, sorted((key, np.shape(value)) for key, value in question.items()))
            for task, question in self.asked
        ]
