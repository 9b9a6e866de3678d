"""Linear models whose noise is not normal: then data tell directions that covariances cannot."""
