"""The log of a site: a line on disk before each answer leaves, and the log as text."""
