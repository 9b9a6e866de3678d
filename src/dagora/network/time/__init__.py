"""Networks in time: fitting, filtering, smoothing, forecasts, most probable histories, scores of rows."""
