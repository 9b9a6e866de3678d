"""Networks that answer: exact inference on discrete, Gaussian and mixed networks, and weighted sampling."""
