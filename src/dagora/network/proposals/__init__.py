"""How missing values of a row are drawn: groups, plans, Gaussian approximations and importance weights."""
