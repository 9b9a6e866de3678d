"""A session of a coordinator and its sites: questions, answers, and what a site serves."""
