"""Statistics of rows that are read again for every round of questions: files, lazy frames, databases."""
