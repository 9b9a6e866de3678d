"""A session of a coordinator and its sites: questions, and the answers that a site gives."""
