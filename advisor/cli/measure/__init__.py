"""Measurements, on this machine and elsewhere."""
