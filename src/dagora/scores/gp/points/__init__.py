"""The additive likelihood at many points at once: compiled, and sharing what is known of the rows."""
