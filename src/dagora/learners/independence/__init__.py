"""Tests of conditional independence with calibrated p-values."""
