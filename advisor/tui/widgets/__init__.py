"""Widgets that know nothing of what they show."""
