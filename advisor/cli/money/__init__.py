"""Prices, and the plan of a grant."""
