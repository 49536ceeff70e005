"""The integer program of a problem, and how its answer becomes runs on machines."""
