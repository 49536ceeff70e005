"""A grant: many experiments, several years, one budget.

    grant.toml --grant.py--> Grant --problem_of_grant.py--> PlanningProblem --solve.py--> Plan
                                   (with the store)          (scipy's milp)

In `solver/`, `problem.py` holds what is planned with and `plan.py` the answer, `charges.py` and
`run_charges.py` the money, `whole_cents.py` the same as the program counts it, `milp.py` the
integer program, and `schedule.py` puts runs on machines day by day. Of a large grant `alike.py`
takes like experiments as one, `packing_rows.py` learns what whole runs need, `large.py` finds how
many machines, `machine_choices.py` what no plan is below, `dividing.py` which parts of machines,
and `filling.py` and `one_by_one.py` deal the runs to them. `year_money.py` plans where years have
their own money, and `named_plan.py` buys what sellers quote before sums that nobody quoted. In
`sensitivity/`, `infeasible.py` says what to relax when nothing works, `explain.py` what binds,
`thresholds.py` what would change the decision and `change_point.py` from where on. `capacity.py`
says what a budget can train. All of these are pure; `solver_process.py` runs them in a process of
their own.
"""
