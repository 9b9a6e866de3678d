"""NOTEARS-MLP: one neural network per variable."""
