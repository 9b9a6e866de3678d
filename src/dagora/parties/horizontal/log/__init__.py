"""What left a site: a log that is on disk before each answer, and its words."""
