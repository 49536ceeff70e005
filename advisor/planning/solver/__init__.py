"""The plan as an integer program."""
