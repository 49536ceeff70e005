"""Roofline and memory of one training step."""
