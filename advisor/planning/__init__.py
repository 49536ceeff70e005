"""A grant: many experiments, several years, one budget.

`grant/` reads a file into a `Grant` and, with the store, into a `PlanningProblem`; `solver/` finds
the best plan for it; `sensitivity/` says what binds and what would change it; `report/` writes the
document and what procurement asks for. All amounts are in the grant's currency (`currency.py`).
`solver_process.py` runs a search in a process of its own; `how_many.py` says what a budget trains.
"""
