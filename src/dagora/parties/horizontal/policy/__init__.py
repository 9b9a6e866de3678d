"""What the owner of a site allows: a file of its own, deny by default, and the check of a plan against it."""
