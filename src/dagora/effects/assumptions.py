"""The assumptions of effects, in words."""

from __future__ import annotations

TABLE_IS_WHOLE = "no common cause is missing from the table"
GRAPH_IS_CAUSAL = "no common cause is missing from the graph, and its arrows are causes"
PAG_IS_RIGHT = "the marks of the PAG are right; hidden common causes are allowed for"
LINEAR_PARENTS = "every mean is linear in the parents"
SAME_NOISE = "the noise is the same in all rows (intervals by the usual standard errors)"
SAME_NOISE_IN_RELEASE = (
    "what the columns leave open of y varies alike in all rows (the release allows no robust errors)"
)
