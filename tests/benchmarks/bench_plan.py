"""How long a plan takes to be found and proven, as experiments and builds grow.

    python -m tests.benchmarks.bench_plan [--seconds S] [--catalogue results.duckdb]

Builds are 100 (or so many) made-up machines along a curve of price against speed, none of which
is much better than its neighbours: the hardest kind, since few can be ruled out beforehand.
With ``--catalogue`` they are those of the store, for grants of 300 runs over five years with every
rule on: slack, longest run, parts of machines, in two of them allocations too. The last ones may
order every quarter or month, what they buy being written off, or cheaper every year.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, process_time

from advisor.planning.plan_grant import grant_at
from advisor.planning.solver.machines import undominated
from advisor.planning.solver.problem import Experiment, Machine, PlanningProblem, Rules
from advisor.planning.solver.program.integer_program import Program
from advisor.planning.solver.search_clock import NoPlan, OutOfTime, Progress, clock_of
from advisor.planning.solver.solve import solve
from advisor.store import Store
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
        rules=Rules(lead_days=45, utilisation=Decimal("0.9"), price_per_kwh=Decimal("0.15")),
    )


MODELS = ("pythia-160m", "pythia-410m", "pythia-1b", "pythia-1.4b", "pythia-2.8b", "roberta")
RUNS = 300
RULES = """
[grant]
start = 2027-01-01
years = 5
[budget]
total = "$20M"
[purchases]
lead_days = 45
[running]
utilisation = 0.8
failures = 0.05
[electricity]
usd_per_kwh = 0.15
pue = 1.5
[institution]
rules = "us-equipment-10000"
"""
HORIZON = RULES.replace("years = 5", 'years = 5\nfunder = "horizon"').replace(
    'total = "$20M"', 'total = "20M"\ncurrency = "EUR"'
)
HORIZON = HORIZON.replace('[institution]\nrules = "us-equipment-10000"\n', "")
ALLOCATION = """
[[allocations]]
name = "campus"
gpu = "H100"
gpu_hours_a_year = 30000
usd_per_gpu_hour = 1.2
max_gpus = 4
max_job_days = 7
queue_days = 0.5
overhead = "service"
"""


YEARS = """per_year = ["1.2M", "200k", "100k", "100k", "100k"]
carry_over = true
"""
YEARS_THAT_BIND = YEARS.replace("1.2M", "420k").replace("200k", "80k").replace("100k", "80k")
YEARS_TOO_SMALL = YEARS.replace("1.2M", "340k").replace("200k", "100k")
OWNED = """
[[owned]]
gpu = "RTX A6000"
gpu_count = 2
free_slots = 2
[[owned]]
gpu = "RTX 3090"
gpu_count = 4
machines = 2
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A grant of 300 runs, or so many, by what is in its file."""

    name: str
    experiments: int
    runs: int = RUNS
    rules: str = RULES
    each_year: bool = False
    more: str = ""
    budget: str = ""
    seed: int = 0


def ordered(rules: str, months: int, price_change: float = 0.0) -> str:
    """The rules with orders every so many months, at prices that change by so much a year."""
    lines = f"order_every_months = {months}\nprice_change = {price_change}"
    return rules.replace("lead_days = 45", f"lead_days = 45\n{lines}")


CASES = (
    Case(name="one deadline a year", experiments=5, each_year=True),
    Case(name="shared windows", experiments=60, seed=1),
    Case(name="allocation", experiments=60, more=ALLOCATION, seed=2),
    Case(name="three models", experiments=3, seed=3),
    Case(name="own windows", experiments=RUNS, seed=4),
    Case(name="shared windows again", experiments=60, seed=11),
    Case(name="own windows again", experiments=RUNS, seed=14),
    Case(name="budgets by year", experiments=60, budget=YEARS, seed=5),
    Case(name="years that bind", experiments=60, budget=YEARS_THAT_BIND, seed=5),
    Case(name="years too small", experiments=60, budget=YEARS_TOO_SMALL, seed=5),
    Case(name="owned, upgrades", experiments=60, more=OWNED, seed=6),
    Case(name="written off, by year", experiments=64, runs=320, rules=HORIZON, seed=1),
    Case(name="by quarter", experiments=64, runs=320, rules=ordered(HORIZON, 3), seed=1),
    Case(name="by month", experiments=64, runs=320, rules=ordered(HORIZON, 1), seed=1),
    Case(name="by quarter, own", experiments=320, runs=320, rules=ordered(HORIZON, 3), seed=4),
    Case(name="by month, own", experiments=320, runs=320, rules=ordered(HORIZON, 1), seed=4),
    Case(
        name="falling, by quarter", experiments=64, rules=ordered(RULES, 3, -0.1), runs=320, seed=1
    ),
)


def grant_text(
    experiments: int,
    *,
    each_year: bool,
    seed: int,
    more: str = "",
    budget: str = "",
    asked: int = RUNS,
    rules: str = RULES,
) -> str:
    """A grant file that asks for 300 runs, or so many."""
    random = Random(seed)
    total = next(line for line in rules.splitlines() if line.startswith("total"))
    text = rules.replace(total, budget or total) + more
    for i in range(experiments):
        first = random.randrange(5)
        last = random.randrange(first, 5)
        runs = asked // experiments // (5 if each_year else 1)
        window = (
            "each_year = true"
            if each_year
            else f"not_before = {2027 + first}-{random.choice(['01-01', '03-15'])}\n"
            f"by = {2027 + last}-12-{random.choice(['01', '20', '31'])}"
        )
        if experiments == asked:  # of which no two have the same window
            length = random.randrange(240, 900)
            low = random.randrange(365 * 5 - length)
            days = (date(2027, 1, 1) + timedelta(day) for day in (low, low + length))
            window = "not_before = {}\nby = {}".format(*days)
        model = random.choice(MODELS)
        text += f'[[experiments]]\nname = "e{i}"\nmodel = "{model}"\nruns = {runs}\n{window}\n'
    return text


def text_of(case: Case) -> str:
    """The grant file of a case."""
    return grant_text(
        case.experiments,
        each_year=case.each_year,
        seed=case.seed,
        more=case.more,
        budget=case.budget,
        asked=case.runs,
        rules=case.rules,
    )


def catalogue(store: Path, limit: float) -> None:
    """Print one line a grant: the first plan, and how near the last is to its bound."""
    print("case                  columns  first_cpu_s  cpu_s  gap")
    for case in CASES:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "grant.toml"
            path.write_text(text_of(case), encoding="utf-8")
            problem = grant_at(Store(store), path, objective=None, today=date(2026, 11, 22)).problem
        began, first = process_time(), [0.0]

        def hear(said: Progress, began: float = began, first: list[float] = first) -> None:
            if said.plan is not None and not first[0]:
                first[0] = process_time() - began

        try:
            plan = solve(problem, clock=clock_of(limit, on_progress=hear))
            gap = "proven" if plan.proven else f"{plan.gap or 0:.2%}"
        except (NoPlan, OutOfTime) as problem_found:
            gap = type(problem_found).__name__
        print(
            f"{case.name:<20}  {len(Program(problem).cost):>7}  {first[0]:>11.1f}  "
            f"{process_time() - began:>5.1f}  {gap}",
            flush=True,
        )


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--catalogue", type=Path, metavar="STORE")
    options = parser.parse_args()
    limit = options.seconds
    if options.catalogue is not None:
        catalogue(options.catalogue, limit)
        return
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
