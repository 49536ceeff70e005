"""How many random grants have a plan, a proof that there is none, or neither, in so many processor
seconds; how near each plan is to its bound, and when its first one came.

Grants are made by kind: a year of small money, instalments, deadlines, hours of an allocation, one
huge run, models that fit on few cards, machines at home, orders by quarter. Of each that is tight,
the money is what the best plan without a budget pays, so that a plan is known to exist.

``--keep FILE`` writes what the solver is asked, and ``--asked FILE`` asks the same again, of
another commit too: fields that it does not know are left out.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from pathlib import Path
from pickle import dumps, loads
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from advisor.planning.plan_grant import grant_at
from advisor.planning.solver import problem as records
from advisor.planning.solver import search_clock
from advisor.planning.solver.money.cents import cents_by_year, within_budgets
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import NoPlan, OutOfTime, Progress, clock_of
from advisor.planning.solver.solve import solve
from advisor.store import Store
from advisor.typed_input import InputError
from bench_runner.records.measurement import Settings
from price_catalog.power import PowerFigures
from tests.benchmarks.grants_by_kind import made

TODAY = date(2026, 11, 22)
TIGHT_SECONDS = 20.0
"""For the plan that a tight grant's money is taken from."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the solver is asked."""

    name: str
    problem: PlanningProblem
    exists: bool = False
    """Whether a plan is known to exist."""


def asked(store: Path, number: int) -> Asked:
    """What the solver is asked for the grant of this number. Raises InputError."""
    this = made(number)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "grant.toml"
        path.write_text(this.text, encoding="utf-8")
        problem = grant_at(Store(store), path, objective=None, today=TODAY).problem
    name = f"{number} {this.kind}"
    if this.tight is None:
        return Asked(name=name, problem=problem)
    plan = solve(problem, TIGHT_SECONDS)
    by_year = cents_by_year(problem, plan.purchases, plan.placed)
    limits = tuple(by_year) if this.tight == "years" else None
    tight = replace(problem, budget_cents=plan.cost_cents, year_budget_cents=limits)
    return Asked(name=name, problem=tight, exists=True)


def plain(value: Any) -> Any:
    """A record as its class and fields."""
    if is_dataclass(value) and not isinstance(value, type):
        every = {each.name: plain(getattr(value, each.name)) for each in fields(value)}
        return ("record", type(value).__name__, every)
    if isinstance(value, PowerFigures):
        return ("power", {key: plain(each) for key, each in value._asdict().items()})
    if isinstance(value, tuple):
        return ("tuple", [plain(each) for each in value])
    if isinstance(value, dict):
        return ("dict", {key: plain(each) for key, each in value.items()})
    return ("value", value)


def record(text: Any) -> Any:
    """What `plain` was made of, without fields that its class does not have here."""
    kind, *rest = text
    if kind == "value":
        return rest[0]
    if kind == "tuple":
        return tuple(record(each) for each in rest[0])
    if kind == "dict":
        return {key: record(each) for key, each in rest[0].items()}
    if kind == "power":
        return PowerFigures(**{key: record(each) for key, each in rest[0].items()})
    name, every = rest
    made_of = {"Asked": Asked, "Settings": Settings}.get(name) or getattr(records, name)
    names = {each.name for each in fields(made_of)}
    return made_of(**{key: record(each) for key, each in every.items() if key in names})


def line_of(this: Asked, seconds: float) -> dict[str, Any]:
    """What a search says within so many processor seconds."""
    began = process_time()
    first: float | None = None

    def hear(said: Progress) -> None:
        nonlocal first
        if said.plan is not None and first is None and within_budgets(this.problem, said.plan):
            first = process_time() - began

    plan: Plan | None = None
    try:
        plan = solve(this.problem, clock=clock_of(seconds, on_progress=hear))
        word = "proven" if plan.proven else "plan"
    except NoPlan:
        word = "none"
    except OutOfTime:
        word = "nothing"
    cpu = process_time() - began
    if plan is not None and first is None:
        first = cpu
    return {
        "name": this.name,
        "answer": word,
        "gap": None if plan is None else plan.gap,
        "first_cpu_s": None if first is None else round(first, 2),
        "cpu_s": round(cpu, 2),
        "judged_cents": None if plan is None else plan.judged_cents,
        "value": None if plan is None else plan.value,
        "finish_day": None if plan is None else round(plan.finish_day, 2),
        "exists": this.exists,
    }


def main() -> None:
    """Print a line of JSON a grant, then the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--keep", type=Path, metavar="FILE")
    parser.add_argument("--asked", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.asked is not None:
        every = [record(each) for each in loads(options.asked.read_bytes())]
    else:
        every = []
        for number in range(options.first, options.first + options.count):
            try:
                every.append(asked(options.store, number))
            except (InputError, NoPlan, OutOfTime) as error:
                print(
                    json.dumps({"name": str(number), "answer": f"not asked: {error!r}"}), flush=True
                )
        if options.keep is not None:
            options.keep.write_bytes(dumps([plain(each) for each in every]))
            return
    # Other work on the machine is not counted; what a solver's library waits for is by its clock.
    search_clock.monotonic = process_time  # type: ignore[attr-defined]
    lines = []
    for this in every:
        lines.append(line_of(this, options.seconds))
        print(json.dumps(lines[-1]), flush=True)
    counts = Counter(line["answer"] for line in lines)
    lost = sum(line["exists"] and line["answer"] in ("none", "nothing") for line in lines)
    gaps = sorted(line["gap"] for line in lines if line["gap"])
    firsts = [line["first_cpu_s"] for line in lines if line["first_cpu_s"] is not None]
    print(f"{len(lines)} grants: {dict(counts)}, {lost} with a plan that was not found")
    if gaps:
        print(f"gap, where not proven: median {median(gaps):.2%}, largest {gaps[-1]:.2%}")
    if firsts:
        print(f"first plan: median {median(firsts):.2f} s, latest {max(firsts):.2f} s")


if __name__ == "__main__":
    main()
