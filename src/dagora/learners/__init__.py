"""Every algorithm that returns a graph, and what runs one."""
