"""Whether two columns are independent given others: tests with calibrated p-values."""
