"""Widgets that are handed all they show: of the program they import how words fill lines."""
