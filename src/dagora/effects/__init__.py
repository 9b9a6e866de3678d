"""Effects of setting variables: from rows and a graph, over a class of graphs, over a posterior."""
