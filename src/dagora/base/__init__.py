"""Tools for all packages: errors, options, events, files, words."""
