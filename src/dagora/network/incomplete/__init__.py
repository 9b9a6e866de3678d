"""Networks and rows with holes: what is expected of the missing cells, parameters by EM, imputation."""
