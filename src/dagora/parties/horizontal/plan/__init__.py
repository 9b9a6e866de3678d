"""What a run may ask, agreed before anything depends on rows: the codebook of the columns, and the plan."""
