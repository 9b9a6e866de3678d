"""Papers reproduced: one room per paper, on a common frame of cells, tables and charts."""
