"""Giudice, Kuipers & Moffa 2023: A Bayesian Take on Gaussian Process Networks."""
