"""A grant: many experiments, several years, one budget.

    grant.toml --grant.py--> Grant --problem_of_grant.py--> PlanningProblem --solve.py--> Plan
                                   (with the store)             (HiGHS)

In `solver/`, `problem.py` has the question and `plan.py` the answer; `money/` what things cost.
`machines.py` and `rentals.py` list what can be chosen, `program.py` is the integer program,
`packing.py` and `placement.py` put runs on machines day by day. `solve.py` finds the plan;
`two_stage.py` first decides on machines where a grant is large, with experiments merged and their
windows widened by `experiments.py`. In `sensitivity/`, `infeasible.py` says what to relax when
nothing works, `explain.py` what binds, `thresholds.py` what would change the decision and
`change_point.py` from which value on. `capacity.py` says what a budget can train. All of these are
pure; `solver_process.py` runs them in a process of their own.
"""
