"""What every room may use: errors, options, events, files, words."""
