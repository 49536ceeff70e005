"""Predicted and recorded training times."""
