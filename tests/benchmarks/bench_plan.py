"""How long a plan takes to be found and proven, as experiments and builds grow.

    python -m tests.benchmarks.bench_plan [--seconds S]

Builds are 100 (or so many) made-up machines along a curve of price against speed, none of which
is much better than its neighbours: the hardest kind, since few can be ruled out beforehand.
"""

from __future__ import annotations

import argparse
from decimal import Decimal
from random import Random
from time import monotonic

from advisor.planning.solver.groups import undominated
from advisor.planning.solver.milp import Program
from advisor.planning.solver.problem import Experiment, Machine, PlanningProblem, Rules
from advisor.planning.solver.search_clock import NoPlan, OutOfTime
from advisor.planning.solver.solve import solve
from tests.plans_for_tests import make_machine, make_problem, make_rental


def grant(
    experiments: int, builds: int, years: int, *, objective: str, seed: int = 1
) -> PlanningProblem:
    """A grant of this size: nine models, each experiment of one year or of several."""
    random = Random(seed)
    work = {f"model{i}": 2.0**i for i in range(9)}
    machines: list[Machine] = []
    for i in range(builds):
        speed = 1.06**i * random.uniform(0.9, 1.1) if builds <= 60 else 1.035**i
        price = 1500 * speed**1.05 * random.uniform(0.85, 1.15)
        days = {
            model: round(6 * flops / speed * random.uniform(0.9, 1.1), 2)
            for model, flops in work.items()
            if flops < 4 * speed
        }
        machines.append(make_machine(f"m{i}", f"{price:.2f}", days))
    rentals = [
        make_rental(f"r{i}", f"{4 * 2**i:.2f}", {m: 6 * w / 8 / 2**i for m, w in work.items()})
        for i in range(4)
    ]
    asked: list[Experiment] = []
    for i in range(experiments):
        first = random.randrange(years)
        last = random.randrange(first, years)
        asked.append(
            Experiment(
                experiment_id=f"e{i}",
                name=f"e{i}",
                model=random.choice(list(work)),
                runs=random.randint(1, 3),
                release_day=365 * first,
                due_day=365 * (last + 1),
            )
        )
    return make_problem(
        year_days=tuple(365 * y for y in range(years + 1)),
        experiments=tuple(asked),
        machines=tuple(machines),
        rentals=tuple(rentals),
        objective=objective,
        budget_cents={"cheapest": None, "most-runs": 150_000_00, "soonest": 900_000_00}[objective],
        rules=Rules(lead_days=45, utilisation=Decimal("0.9"), usd_per_kwh=Decimal("0.15")),
    )


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    limit = parser.parse_args().seconds
    print("objective   experiments builds years  undominated columns  rows  seconds  rounds  gap")
    sizes = [(10, 20, 3), (10, 100, 3), (10, 100, 5), (25, 100, 5), (50, 25, 5), (50, 50, 5)]
    for objective in ("cheapest", "most-runs", "soonest"):
        for experiments, builds, years in [*sizes, (50, 100, 5)]:
            problem = grant(experiments, builds, years, objective=objective)
            program = Program(problem)
            began = monotonic()
            try:
                plan = solve(problem, limit)
                gap = "proven" if plan.proven else f"{plan.gap or 0:.2%}"
                rounds = str(plan.rounds)
            except (NoPlan, OutOfTime) as problem_found:
                gap, rounds = type(problem_found).__name__, "-"
            print(
                f"{objective:<11} {experiments:>11} {builds:>6} {years:>5} "
                f"{len(undominated(problem)):>12} {len(program.cost):>7} {len(program.rows):>5} "
                f"{monotonic() - began:>8.2f} {rounds:>7}  {gap}",
                flush=True,
            )


if __name__ == "__main__":
    main()
