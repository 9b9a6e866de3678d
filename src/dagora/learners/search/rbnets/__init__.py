"""RBNets: reinforcement learning over orders of the variables."""
