"""Messages between a coordinator and its sites that travel through Flower (SuperLink and SuperNodes)."""
