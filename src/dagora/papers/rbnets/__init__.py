"""RBNets (Zheng, Wang, Gao & Chen 2023): reinforcement learning over the order graph."""
