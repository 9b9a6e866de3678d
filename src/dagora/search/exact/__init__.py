"""Search with a proof."""
