"""Statistics of tables with missing values: what the cells that were seen say."""
