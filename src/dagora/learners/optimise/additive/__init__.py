"""NOTEARS with a sum of basis functions per edge, from their second moments."""
