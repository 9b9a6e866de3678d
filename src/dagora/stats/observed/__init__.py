"""Statistics of tables with holes: what the cells that were seen say."""
