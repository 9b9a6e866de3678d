"""RL-BIC: a neural network draws graphs, and learns from their scores to draw better ones."""
