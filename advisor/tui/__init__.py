"""The terminal program.

What its modules hand to one another are mostly NamedTuples: to make a frozen dataclass takes five
times as long, and the first screen waits for every class that is loaded before it.
"""
