"""Ng & Zhang 2022: Towards federated Bayesian network structure learning with continuous optimization."""
