"""Boolean circuits and Yao's protocol with half-gates."""
