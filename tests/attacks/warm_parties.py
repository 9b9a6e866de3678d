"""Imported by the server from which parties are forked: all that they need is loaded once, kernels included."""

import gc
import warnings

import pandas as pd  # noqa: F401 (pyarrow imports it for a table)
import pyarrow.csv  # noqa: F401 (a site reads a file)
import pytest  # noqa: F401 (the module that runs the tests is imported by each process)

import dagora
import dagora.api.open_rows
import dagora.cli.federate.group
import dagora.formats.registry
import dagora.parties.horizontal.log.log_text
import dagora.parties.horizontal.policy.policy_file
from tests.attacks import worn_parties  # noqa: F401

truth = dagora.random_dag("er", 4, 2, seed=2)
tables = {name: dagora.simulate(truth, "logistic", 40, seed=1).table for name in ("east", "north", "south")}
dagora.learn_federated(tables, "hill-climb", max_parents=2)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of rows that are few for noise
    dagora.learn_federated(tables, privacy={"epsilon": 1})
gc.freeze()  # a party looks for garbage among what it makes itself
