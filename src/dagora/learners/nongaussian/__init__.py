"""Linear models with non-Gaussian noise, where data determine directions that covariances do not."""
