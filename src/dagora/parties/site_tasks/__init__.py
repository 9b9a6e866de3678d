"""What a site does with its own rows and then shows. Above the registry, since it may learn by any method."""
