"""The public functions, one file each, named as the function."""
