"""Networks in time: what a step depends on, of itself and of earlier steps."""
