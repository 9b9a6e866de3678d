"""Zheng, Aragam, Ravikumar & Xing 2018: DAGs with NO TEARS."""
