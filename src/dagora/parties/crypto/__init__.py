"""Primitives of two-party computation: garbled circuits, oblivious transfer, homomorphic encryption."""

from dagora.base.extras import FOR_OWNERS, require_all

require_all(FOR_OWNERS, "learning from the columns of two owners")
