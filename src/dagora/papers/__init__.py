"""Papers reproduced: one folder per paper; cells, tables and charts are shared."""
