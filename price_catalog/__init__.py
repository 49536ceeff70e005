"""Prices, machines and GPU specifications as text, read and validated once."""
