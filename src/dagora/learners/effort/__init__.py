"""The time that a method would take: measured on parts of the columns, extrapolated to all."""
