"""Columns of three and more owners: private K2 on replicated shares of three of them."""
