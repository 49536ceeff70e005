"""Widgets that are handed all they show: they import nothing else of the program."""
