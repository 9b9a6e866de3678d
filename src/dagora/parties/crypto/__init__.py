"""Primitives of two-party computation: garbled circuits, oblivious transfer, homomorphic encryption."""

from dagora.base.extras import CRYPTOGRAPHY_FOR_OWNERS

CRYPTOGRAPHY_FOR_OWNERS.require("learning from the columns of two owners")
