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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from pickle import dumps, loads
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from advisor.parse import InputError
from advisor.planning.plan_grant import grant_at
from advisor.planning.solver import problem as records
from advisor.planning.solver import search_clock
from advisor.planning.solver.by_year import cents_by_year, within_budgets
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import NoPlan, OutOfTime, Progress, clock_of
from advisor.planning.solver.solve import solve
from advisor.store import Store
from bench_runner.records import Settings
from price_catalog.power import PowerFigures

TODAY = date(2026, 11, 22)
START = date(2027, 1, 1)
SMALL = ("pythia-70m", "pythia-160m", "bert-base", "resnet-50", "deit-small-16", "t5-base")
USUAL = (
    "pythia-410m",
    "pythia-1b",
    "roberta",
    "vit",
    "convnext-large-1k",
    "mamba-370m",
    "gpt2-124m",
)
LARGE = ("pythia-1.4b", "pythia-2.8b", "qwen3-1.7b-shape", "convnext-xlarge-22k", "mamba-790m")
HUGE = ("pythia-6.9b", "pythia-12b", "mixtral-1.5b-shape", "deepseekmoe-2b-shape")
RULES = ("us-equipment-10000", "us-equipment-5000")
TIGHT_SECONDS = 20.0
"""For the plan that a tight grant's money is taken from."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """A grant's file, and whether its money is to be what its best plan pays: in all or by year."""

    kind: str
    text: str
    tight: str | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the solver is asked."""

    name: str
    problem: PlanningProblem
    exists: bool = False
    """Whether a plan is known to exist."""


def experiment(random: Random, models: tuple[str, ...], years: int, *, runs: int = 3) -> str:
    """Runs of a model, in a window, in every year, by a deadline, or at any time."""
    text = f'[[experiments]]\nmodel = "{random.choice(models)}"\nruns = {random.randint(1, runs)}\n'
    kind = random.choice(("any", "each", "by", "window", "after"))
    days = 365 * years
    if kind == "each":
        return text + "each_year = true\n"
    if kind == "by":
        return text + f"by = {START + timedelta(random.randrange(150, days))}\n"
    if kind == "after":
        return text + f"not_before = {START + timedelta(random.randrange(0, days // 2))}\n"
    if kind == "window":
        low = random.randrange(0, days - 200)
        due = min(low + random.randrange(150, 500), days - 1)
        return f"{text}not_before = {START + timedelta(low)}\nby = {START + timedelta(due)}\n"
    return text


def grant(
    years: int,
    experiments: Iterator[str],
    *,
    total: int | None = None,
    general: str = "",
    budget: str = "",
    purchases: str = "lead_days = 45",
    running: str = "utilisation = 0.8\nfailures = 0.05",
    more: str = "",
) -> str:
    """A grant's file of these tables."""
    money = "" if total is None else f"total = {total}\n"
    named = (f'{each}name = "e{number}"\n' for number, each in enumerate(experiments))
    return (
        f"[grant]\nstart = {START}\nyears = {years}\n{general}\n[budget]\n{money}{budget}\n"
        f"[purchases]\n{purchases}\n[running]\n{running}\n{more}\n" + "\n".join(named)
    )


def some(random: Random, count: int, models: tuple[str, ...], years: int, runs: int = 3) -> Any:
    return (experiment(random, models, years, runs=runs) for _ in range(count))


def paid(random: Random) -> str:
    """Electricity and overhead, as a lab in the United States has them."""
    return (
        '[electricity]\npaid_by = "grant"\nusd_per_kwh = 0.15\npue = 1.4\n'
        f'[institution]\nrules = "{random.choice(RULES)}"\n'
    )


OWNED = """[[owned]]
gpu = "RTX A6000"
gpu_count = 2
free_slots = 2
usable_from = 2027-03-01
[[owned]]
gpu = "RTX 3090"
gpu_count = 4
machines = 2
"""
CAMPUS = """[[allocations]]
name = "campus"
gpu = "{gpu}"
gpu_hours_a_year = {hours}
usd_per_gpu_hour = {usd}
max_gpus = 4
max_job_days = 2
queue_days = 0.5
odds = {odds}
overhead = "service"
"""


def campus(random: Random) -> str:
    return CAMPUS.format(
        gpu=random.choice(("H100", "A100 80GB", "RTX A6000")),
        hours=random.choice((500, 3000, 20000)),
        usd=random.choice((0, 0.4, 1.2)),
        odds=random.choice((1, 0.6)),
    )


def one_year(random: Random) -> Made:
    text = grant(
        1, some(random, random.randint(1, 4), USUAL, 1), total=random.choice((8, 20, 60)) * 1000
    )
    return Made(kind="one year", text=text)


def three_years(random: Random) -> Made:
    total = random.choice((40, 90, 250)) * 1000
    every = some(random, random.randint(3, 8), USUAL + SMALL, 3)
    return Made(kind="three years", text=grant(3, every, total=total, more=paid(random)))


def instalments(random: Random) -> Made:
    years = random.choice((3, 4, 5))
    first = random.choice((20, 60, 200))
    each = [
        f'"{first}k"',
        *(f'"{max(first // random.choice((1, 3, 8)), 2)}k"' for _ in range(years - 1)),
    ]
    carried = random.choice(("true", "false"))
    budget = f"per_year = [{', '.join(each)}]\ncarry_over = {carried}\n"
    every = some(random, random.randint(3, 9), USUAL + SMALL, years)
    return Made(kind="instalments", text=grant(years, every, budget=budget, more=paid(random)))


def tight_years(random: Random) -> Made:
    years = random.choice((2, 3, 4))
    every = some(random, random.randint(4, 14), USUAL + SMALL, years)
    budget = f"carry_over = {random.choice(('true', 'false'))}\n"
    text = grant(years, every, budget=budget + "total = 5000000\n", more=paid(random))
    return Made(kind="tight by year", text=text, tight="years")


def tight_total(random: Random) -> Made:
    years = random.choice((1, 2, 3))
    every = some(random, random.randint(4, 16), USUAL + LARGE, years)
    more = paid(random) + (OWNED if random.random() < 0.4 else "")
    return Made(kind="tight", text=grant(years, every, total=9_000_000, more=more), tight="total")


def tight_many(random: Random) -> Made:
    every = some(random, 40, USUAL + SMALL, 3, 5)
    budget = f"carry_over = {random.choice(('true', 'false'))}\n"
    text = grant(3, every, budget=budget + "total = 9000000\n", more=paid(random))
    return Made(kind="tight, many runs", text=text, tight="years")


def tight_quarters(random: Random) -> Made:
    every = some(random, random.randint(8, 20), USUAL, 4)
    purchases = f"lead_days = 45\norder_every_months = {random.choice((3, 6))}\nprice_change = -0.1"
    budget = f"carry_over = {random.choice(('true', 'false'))}\ntotal = 9000000\n"
    text = grant(4, every, budget=budget, purchases=purchases, more=paid(random))
    return Made(kind="tight, by quarter", text=text, tight="years")


def tight_lab(random: Random) -> Made:
    years = random.choice((3, 5))
    every = some(random, 60, USUAL + SMALL + LARGE, years, 4)
    budget = f"carry_over = {random.choice(('true', 'false'))}\ntotal = 90000000\n"
    more = paid(random) + OWNED + (campus(random) if random.random() < 0.5 else "")
    text = grant(years, every, budget=budget, more=more)
    return Made(kind="tight lab", text=text, tight="years")


def rent_and_buy(random: Random) -> Made:
    more = paid(random) + '[rentals]\nkinds = ["on-demand", "spot"]\nprice_change = -0.05\n'
    purchases = f"lead_days = 60\nprice_change = -0.1\nmax_machines = {random.randint(1, 4)}"
    every = some(random, random.randint(2, 10), USUAL + LARGE, 3)
    total = random.choice((60, 200, 600)) * 1000
    return Made(
        kind="rent and buy", text=grant(3, every, total=total, purchases=purchases, more=more)
    )


def allocation(random: Random) -> Made:
    years = random.choice((1, 3))
    every = some(random, random.randint(2, 10), USUAL, years)
    total = random.choice((5, 30, 120)) * 1000
    return Made(kind="allocation", text=grant(years, every, total=total, more=campus(random)))


def funder(random: Random) -> Made:
    name, code = random.choice(
        (("horizon", "EUR"), ("dfg", "EUR"), ("ukri", "GBP"), ("nserc", "CAD"))
    )
    general = f'funder = "{name}"\naward_years = "{random.choice(("start", "calendar"))}"\n'
    general += f'objective = "{random.choice(("cheapest", "most-runs"))}"\n'
    total = random.choice((50, 150, 400)) * 1000
    budget = f'currency = "{code}"\n' + ("vat = 0.19\n" if code == "EUR" else "")
    electricity = "[electricity]\nprice_per_kwh = 0.3\n"
    every = some(random, random.randint(2, 8), USUAL, 4)
    text = grant(4, every, total=total, general=general, budget=budget, more=electricity)
    return Made(kind="funder", text=text)


def deadlines(random: Random) -> Made:
    every = (
        f'[[experiments]]\nmodel = "{random.choice(USUAL)}"\nruns = {random.randint(1, 4)}\n'
        f"by = {START + timedelta(random.randrange(75, 300))}\n"
        for _ in range(random.randint(2, 7))
    )
    return Made(kind="deadlines", text=grant(1, every, total=random.choice((30, 100, 400)) * 1000))


def small_money(random: Random) -> Made:
    every = some(random, random.randint(2, 8), SMALL + USUAL, 2)
    general = 'objective = "most-runs"\n'
    total = random.choice((300, 1500, 4000, 9000))
    more = paid(random) + (OWNED if random.random() < 0.3 else "")
    return Made(kind="small money", text=grant(2, every, total=total, general=general, more=more))


def huge_money(random: Random) -> Made:
    every = some(random, random.randint(3, 12), USUAL + LARGE + HUGE, 3)
    general = f'objective = "{random.choice(("soonest", "most-runs", "cheapest"))}"\n'
    text = grant(3, every, total=20_000_000, general=general, more=paid(random))
    return Made(kind="huge money", text=text)


def many_small(random: Random) -> Made:
    years = random.choice((1, 3))
    every = some(random, random.randint(40, 90), SMALL, years, 2)
    total = random.choice((30, 100)) * 1000
    general = f'objective = "{random.choice(("cheapest", "most-runs"))}"\n'
    text = grant(years, every, total=total, general=general, more=paid(random))
    return Made(kind="many small", text=text)


def one_huge(random: Random) -> Made:
    every = iter([f'[[experiments]]\nmodel = "{random.choice(HUGE)}"\nruns = 1\n'])
    running = "utilisation = 0.9\nlongest_run_days = 300"
    total = random.choice((100, 400, 2000)) * 1000
    return Made(
        kind="one huge run", text=grant(2, every, total=total, running=running, more=paid(random))
    )


def memory_bound(random: Random) -> Made:
    purchases = 'lead_days = 30\ngpus = ["RTX 3090", "RTX 4090", "RTX A6000", "RTX 6000 Ada"]'
    every = some(random, random.randint(1, 4), LARGE + HUGE, 3, 2)
    running = "utilisation = 0.8\nlongest_run_days = 400\nnetwork_gbit = 25"
    total = random.choice((50, 200)) * 1000
    rent = "[rentals]\nallowed = false\n"
    text = grant(3, every, total=total, purchases=purchases, running=running, more=rent)
    return Made(kind="memory-bound", text=text)


def at_home(random: Random) -> Made:
    years = random.choice((1, 2, 3))
    every = some(random, random.randint(3, 9), USUAL + SMALL, years)
    total = random.choice((4, 15, 50)) * 1000
    general = f'objective = "{random.choice(("cheapest", "most-runs", "soonest"))}"\n'
    text = grant(years, every, total=total, general=general, more=OWNED + paid(random))
    return Made(kind="machines at home", text=text)


def by_quarter(random: Random) -> Made:
    months = random.choice((1, 3, 6))
    purchases = f"lead_days = 45\norder_every_months = {months}\nprice_change = -0.1"
    general = 'funder = "horizon"\n'
    budget = 'currency = "EUR"\n'
    every = some(random, random.randint(5, 20), USUAL, 4)
    text = grant(4, every, total=900_000, general=general, budget=budget, purchases=purchases)
    return Made(kind="orders by quarter", text=text)


def large_lab(random: Random) -> Made:
    every = some(random, 60, USUAL + SMALL + LARGE, 5, 8)
    more = paid(random) + (campus(random) if random.random() < 0.5 else "")
    return Made(kind="large lab", text=grant(5, every, total=8_000_000, more=more))


KINDS: tuple[Callable[[Random], Made], ...] = (
    one_year,
    three_years,
    instalments,
    tight_years,
    tight_total,
    tight_many,
    rent_and_buy,
    allocation,
    funder,
    deadlines,
    small_money,
    huge_money,
    many_small,
    one_huge,
    memory_bound,
    at_home,
    by_quarter,
    large_lab,
    tight_quarters,
    tight_lab,
)


def made(number: int) -> Made:
    """The grant of this number: each kind comes again after so many."""
    return KINDS[number % len(KINDS)](Random(number))


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
        plan = solve(this.problem, clock=clock_of(seconds, hear=hear))
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
