"""Networks and tables with missing values: fitting, imputation, draws."""
