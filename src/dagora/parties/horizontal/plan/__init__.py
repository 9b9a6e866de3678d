"""The codebook of the columns and the plan of a run, agreed before anything depends on rows."""
