"""A grant: many experiments, several years, one budget.

    grant.toml --grant.py--> Grant --problem_of_grant.py--> PlanningProblem --solve.py--> Plan
                                   (with the store)          (scipy's milp)

`problem.py` holds what is planned with, `money.py` the charges, `place.py` puts runs on machines
day by day, `relax.py` says what to relax when nothing works, `explain.py` what binds and what
would flip the decision, `inverse.py` what a budget can train. All of these are pure.
"""
