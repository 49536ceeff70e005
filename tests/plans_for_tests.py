"""Small plans made by hand or at random, and a search that tries everything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import product
from math import inf
from random import Random
from typing import Any

from advisor.planning.solver.money.cents import (
    kept_value,
    purchase_cents,
    rental_cents,
    run_cents,
)
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import (
    Allocation,
    Experiment,
    Machine,
    PlanningProblem,
    PriceLine,
    Rental,
    Rules,
    RunTime,
)
from advisor.planning.solver.search_clock import NoPlan
from advisor.planning.solver.solve import solve
from price_catalog.power import PowerFigures

START = date(2027, 1, 1)


def make_time(days: float, **changes: Any) -> RunTime:
    given: dict[str, Any] = {
        "measurement_id": f"m-{days}",
        "days": days,
        "days_low": days - 0.5,
        "days_high": days + 0.5,
        "basis": "measured",
        "timing": "synchronised",
        "verdict": "plausible",
        "source_id": "test",
        "measured_on": date(2026, 1, 1),
    }
    return RunTime(**(given | changes))


def make_machine(name: str, usd: str | None, days: dict[str, float], **changes: Any) -> Machine:
    """A machine of one price line; without a price it is owned."""
    lines = ()
    if usd is not None:
        lines = (
            PriceLine(
                item_kind="host",
                item_id=name,
                label=name,
                quantity=1,
                unit_price=Decimal(usd),
                quote_id=f"quote-{name}",
                quote_kind="list",
                vendor="a shop",
                quoted_on=date(2026, 1, 2),
                source_id="test",
            ),
        )
    given: dict[str, Any] = {
        "machine_id": name,
        "label": name,
        "gpu_id": f"gpu-{name}",
        "gpu_name": name.upper(),
        "gpu_count": 1,
        "times": {model: make_time(d) for model, d in days.items()},
        "lines": lines,
        "power": PowerFigures(gpu_w=None, gpu_count=1, stated_w=Decimal(1000)),
        "owned": 0 if usd is not None else 1,
    }
    return Machine(**(given | changes))


def make_rental(name: str, price_per_hour: str, days: dict[str, float]) -> Rental:
    return Rental(
        rental_id=name,
        label=name,
        provider="a cloud",
        kind="on-demand",
        gpu_id=f"gpu-{name}",
        gpu_count=1,
        price_per_hour=Decimal(price_per_hour),
        priced_on=date(2026, 1, 3),
        source_id="test",
        times={model: make_time(d) for model, d in days.items()},
    )


def make_experiment(
    name: str, model: str, runs: int, low: int, due: int, **changes: Any
) -> Experiment:
    return Experiment(
        experiment_id=name,
        name=name,
        model=model,
        runs=runs,
        release_day=low,
        due_day=due,
        **changes,
    )


def make_problem(**changes: Any) -> PlanningProblem:
    given: dict[str, Any] = {
        "start": START,
        "year_days": (0, 100),
        "experiments": (),
        "machines": (),
        "rentals": (),
        "rules": Rules(),
    }
    return PlanningProblem(**(given | changes))


def random_problem(seed: int) -> PlanningProblem:
    """At most 2 years, 3 experiments, 4 runs, 2 machines to buy, 1 owned and 1 to rent."""
    random = Random(seed)
    years = random.choice([1, 2])
    models = ["a", "b", "c"][: random.randint(1, 3)]

    def days(slow: float) -> dict[str, float]:
        return {m: round(random.uniform(5, 60) * slow, 1) for m in models if random.random() < 0.85}

    machines = [
        make_machine(f"buy{i}", str(random.randint(1, 40) * 500), days(random.choice([1, 2])))
        for i in range(random.randint(1, 2))
    ]
    if random.random() < 0.5:
        machines.append(make_machine("own", None, days(2.5), owned=random.randint(1, 2)))
    rentals = []
    if random.random() < 0.5:
        rentals.append(make_rental("rent", f"{random.uniform(1, 20):.2f}", days(0.7)))
    runs_left = 4
    experiments = []
    for i in range(random.randint(1, 3)):
        runs = random.randint(1, max(1, min(2, runs_left)))
        if runs_left <= 0:
            break
        runs_left -= runs
        low = random.choice([0, 0, 20, 100 * (years - 1)])
        experiments.append(
            make_experiment(
                f"e{i}",
                random.choice(models),
                runs,
                low,
                random.choice([low + 40, low + 70, 100 * years]),
                value=random.choice([1, 1, 2]),
            )
        )
    budget = random.choice([None, random.randint(1, 60) * 1000_00])
    by_year = None
    if random.random() < 0.3:
        by_year = tuple(random.randint(0, 30) * 1000_00 for _ in range(years))
    return make_problem(
        year_days=tuple(100 * y for y in range(years + 1)),
        experiments=tuple(experiments),
        machines=tuple(machines),
        rentals=tuple(rentals),
        objective=random.choice(["cheapest", "most-runs", "soonest"]),
        budget_cents=budget,
        year_budget_cents=by_year,
        carry_over=random.random() < 0.5,
        max_machines=random.choice([None, None, 1, 2]),
        rules=Rules(
            equipment_threshold=Decimal(random.choice([0, 5000, 10000])),
            overhead_rate=Decimal(random.choice(["0", "0.15", "0.55"])),
            price_per_kwh=random.choice([None, Decimal("0.15")]),
            utilisation=Decimal(random.choice(["1", "0.8"])),
            lead_days=random.choice([0, 10]),
            lifetime_years=random.choice([None, None, Decimal(3)]),
        ),
    )


@dataclass(frozen=True)
class Unit:
    """One machine that could take runs, or a rental in one year."""

    option: Any
    year: int
    low: float
    end: float = inf


def plan_or_none(problem: PlanningProblem, **how: Any) -> Plan | None:
    """What the solver plans; None where it says that there is no plan."""
    try:
        return solve(problem, **how)
    except NoPlan:
        return None


def check_bound(plan: Plan, best_cents: float) -> None:
    """No plan is better than the best, and what is said of one that is not proven holds."""
    assert plan.judged_cents >= best_cents
    if plan.proven:
        assert plan.judged_cents == best_cents
    else:
        assert plan.gap is None or plan.judged_cents * (1 - plan.gap) <= best_cents + 1


def fits_one_machine(jobs: list[tuple[float, float, float]], share: float = 1.0) -> bool:
    """The demand bound over every interval: (low, due, days) of each run; ``share`` of the days may
    be used."""
    for start in {job[0] for job in jobs}:
        for end in {job[1] for job in jobs}:
            need = sum(days for low, due, days in jobs if low >= start and due <= end)
            if need > max(end - start, 0) * share + 1e-6 and need > 0:
                return False
    return True


def finish_of(jobs: list[tuple[float, float, float]]) -> float:
    """When one machine that never idles with work to do is through."""
    now = 0.0
    for low, _, days in sorted(jobs):
        now = max(now, low) + days
    return now


def best_by_trying_everything(problem: PlanningProblem) -> tuple[float, ...] | None:
    """The best objective: (judged cents), (-value, judged cents) or (finish, judged cents)."""
    buyable = [m for m in problem.machines if not m.owned]
    slots = [(m, order) for m in buyable for order in range(len(problem.orders))]
    total = sum(e.runs for e in problem.experiments)
    most = min(total, problem.max_machines if problem.max_machines is not None else total)
    best: tuple[float, ...] | None = None
    ranges = [range(most + 1) if m.upgrade_of is None else range(2) for m, _ in slots]
    for counts in product(*ranges):
        added = [m.upgrade_of for (m, _), n in zip(slots, counts, strict=True) if n]
        added = [owned for owned in added if owned is not None]
        if sum(counts) - len(added) > most or len(set(added)) < len(added):
            continue
        found = _best_with(problem, list(zip(slots, counts, strict=True)))
        if found is not None and (best is None or found < best):
            best = found
    return best


def _best_with(problem: PlanningProblem, bought: list[Any]) -> tuple[float, ...] | None:
    rules = problem.rules
    spent = [0] * problem.years
    kept = 0
    units: list[Unit] = []
    charged = [0.0] * problem.years
    for (machine, order), count in bought:
        day = problem.orders[order]
        cents = count * purchase_cents(machine, rules, day)
        spent[problem.year_of(day)] += cents
        for year, share in charged_in_years(problem, day).items():
            charged[year] += cents * share
        kept += count * int(kept_value(machine, order, problem) * 100)
        units += [Unit(machine, order, day + rules.lead_days)] * count
    if not within(problem, charged):
        return None
    ends = {m.upgrade_of: problem.orders[o] + rules.lead_days for (m, o), n in bought if n}
    for machine in problem.machines:
        end = ends.get(machine.machine_id, inf)
        units += [Unit(machine, -1, machine.ready_day, end)] * machine.owned
    for rental in problem.rentals:
        units += [Unit(rental, y, problem.year_days[y]) for y in range(problem.years)]
    runs = [e for e in problem.experiments for _ in range(e.runs)]
    best: tuple[float, ...] | None = None
    taken: list[tuple[int, tuple[float, float, float], int]] = []

    def visit(at: int, jobs: list[list[tuple[float, float, float]]], finish: float) -> None:
        nonlocal best, value
        if at == len(runs):
            if not hours_suffice(problem, units, taken):
                return
            if problem.budget_cents is not None and sum(spent) > problem.budget_cents:
                return
            if problem.year_budget_cents is not None and not year_money_suffices(
                problem, units, charged, taken
            ):
                return
            judged = sum(spent) - kept
            done = max([finish, *(finish_of(j) for j in jobs if j)])
            key: tuple[float, ...] = (judged,)
            if problem.objective == "most-runs":
                key = (-value, judged)
            elif problem.objective == "soonest":
                key = (-(-(done - 1e-6) // 1), judged)
            if best is None or key < best:
                best = key
            return
        e = runs[at]
        if best is not None and problem.objective == "cheapest" and sum(spent) - kept > best[0]:
            return
        tried: set[Any] = set()
        for u, unit in enumerate(units):
            same = (id(unit.option), unit.year, tuple(sorted(jobs[u])))
            if same in tried:
                continue
            tried.add(same)
            time = unit.option.times.get(e.model)
            if time is None:
                continue
            low = max(e.release_day, unit.low)
            due = min(e.due_day, problem.year_days[-1])
            if isinstance(unit.option, Rental):
                release = float(e.release_day)
                due = release + problem.usable(due - release)
                if low >= problem.year_days[unit.year + 1] or low + time.days > due + 1e-6:
                    continue
                cents = rental_cents(unit.option, e.model, rules, problem.year_days[unit.year])
                spent[unit.year] += cents
                value += e.value
                taken.append((u, (float(low), float(due), time.days), cents))
                visit(at + 1, jobs, max(finish, low + time.days))
                taken.pop()
                value -= e.value
                spent[unit.year] -= cents
                continue
            job = (float(low), float(min(due, unit.end)), problem.elapsed(time))
            if not fits_one_machine([*jobs[u], job], problem.usable(1.0)):
                continue
            cents = run_cents(unit.option, e.model, rules)
            year = max(y for y in range(problem.years) if problem.year_days[y] <= low)
            spent[year] += cents
            value += e.value
            taken.append((u, job, cents))
            visit(at + 1, [*jobs[:u], [*jobs[u], job], *jobs[u + 1 :]], finish)
            taken.pop()
            value -= e.value
            spent[year] -= cents
        if problem.objective == "most-runs":
            visit(at + 1, jobs, finish)

    value = 0
    visit(0, [[] for _ in units], 0.0)
    return best


def hours_suffice(
    problem: PlanningProblem,
    units: list[Unit],
    taken: list[tuple[int, tuple[float, float, float], int]],
) -> bool:
    """Whether each allocation has the hours that runs use of it in each year."""
    used: dict[tuple[int, Decimal | None], Decimal] = {}
    for u, (*_, days), _ in taken:
        option = units[u].option
        if isinstance(option, Rental) and option.allocation is not None:
            hours = Decimal(str(days)) * 24 * option.gpu_count
            granted = next(a for a in problem.allocations if a.allocation_id == option.allocation)
            pool = granted.pool_of(units[u].year)
            used[pool] = used.get(pool, Decimal(0)) + hours
    return all(limit is None or hours <= limit for (_, limit), hours in used.items())


def year_money_suffices(
    problem: PlanningProblem,
    units: list[Unit],
    charged: list[float],
    taken: list[tuple[int, tuple[float, float, float], int]],
) -> bool:
    """Whether the days of these runs can be spread over the years so that each year's money is
    enough: a linear program over the days of every run in every year."""
    from scipy.optimize import linprog

    years = problem.years
    if not any(cents for *_, cents in taken):
        return within(problem, charged)
    spans = list(zip(problem.year_days, problem.year_days[1:], strict=False))
    width = len(taken) * years
    bounds: list[tuple[float, float]] = []
    equal: list[list[float]] = []
    equal_to: list[float] = []
    rows: list[list[float]] = []
    most: list[float] = []
    money = [[0.0] * width for _ in range(years)]
    for n, (u, (low, due, days), cents) in enumerate(taken):
        row = [0.0] * width
        for y, (start, end) in enumerate(spans):
            room = max(min(due, end) - max(low, start), 0.0)
            rented = isinstance(units[u].option, Rental)
            if rented and (y < units[u].year or y > units[u].year + 1):
                room = 0.0
            bounds.append((0.0, room))
            row[n * years + y] = 1.0
            money[y][n * years + y] = cents / days
        equal.append(row)
        equal_to.append(days)
    for u, unit in enumerate(units):
        if isinstance(unit.option, Rental):
            continue
        pieces = [
            (n * years + y, max(low, start), min(due, end))
            for n, (at, (low, due, _), _) in enumerate(taken)
            if at == u
            for y, (start, end) in enumerate(spans)
            if min(due, end) > max(low, start)
        ]
        for first in {p[1] for p in pieces}:
            for last in {p[2] for p in pieces}:
                row = [0.0] * width
                for column, low, due in pieces:
                    row[column] = float(low >= first and due <= last)
                rows.append(row)
                most.append(max(last - first, 0.0))
    assert problem.year_budget_cents is not None
    ahead, spent = 0.0, [0.0] * width
    for y, limit in enumerate(problem.year_budget_cents):
        left = limit - charged[y]
        if problem.carry_over:
            ahead, spent = ahead + left, [a + b for a, b in zip(spent, money[y], strict=True)]
        else:
            ahead, spent = left, money[y]
        rows.append(spent)
        most.append(ahead + 1e-6)
    answer = linprog([0.0] * width, A_ub=rows, b_ub=most, A_eq=equal, b_eq=equal_to, bounds=bounds)
    return answer.x is not None


def charged_in_years(problem: PlanningProblem, day: int) -> dict[int, float]:
    """The part of a machine ordered on ``day`` that each year is charged: all at once, or the
    months of its life that begin in it."""
    rules = problem.rules
    if rules.life_months is None:
        return {problem.year_of(day): 1.0}
    ready = day + rules.lead_days
    first = problem.start + timedelta(days=ready)
    left = max(rules.grant_months - ready * 48 // 1461, 0)
    years = []
    for n in range(first.month - 1, first.month - 1 + min(left, rules.life_months)):
        begins = date(first.year + n // 12, n % 12 + 1, min(first.day, 28))
        years.append(problem.year_of((begins - problem.start).days))
    return {year: years.count(year) / len(years) for year in set(years)}


def within(problem: PlanningProblem, spent: list[float]) -> bool:
    """Whether the money of every year and of all is enough; parts of a cent are rounded."""
    if problem.budget_cents is not None and sum(spent) > problem.budget_cents + 1e-6:
        return False
    if problem.year_budget_cents is None:
        return True
    if not problem.carry_over:
        pairs = zip(spent, problem.year_budget_cents, strict=True)
        return all(s <= b + 1e-6 for s, b in pairs)
    ahead = 0.0
    for s, b in zip(spent, problem.year_budget_cents, strict=True):
        ahead += b - s
        if ahead < -1e-6:
            return False
    return True


def upgradable_problem(seed: int) -> PlanningProblem:
    """An owned machine that may get more GPUs, in several steps, beside one to buy or rent."""
    random = Random(seed)
    problem = random_problem(seed)
    models = sorted({e.model for e in problem.experiments})
    slow = {m: round(random.uniform(15, 70), 1) for m in models}
    owned = make_machine("mine", None, slow)
    machines = [m for m in problem.machines if not m.owned][:1]
    machines += [
        make_machine(
            f"more{n}",
            str(random.randint(1, 10) * 500),
            {m: round(days / n, 1) for m, days in slow.items() if random.random() < 0.9},
            upgrade_of="mine",
        )
        for n in range(2, random.choice([3, 4]))
    ]
    return replace(problem, machines=(owned, *machines))


def crowded_problem(seed: int) -> PlanningProblem:
    """One kind of machine, runs of many lengths: what several machines can do is a packing."""
    random = Random(seed)
    models = ["a", "b", "c", "d"]
    days = {m: random.uniform(15, 55) for m in models}
    return make_problem(
        experiments=tuple(
            make_experiment(f"e{i}", m, random.choice([1, 1, 2]), 0, random.choice([100, 100, 80]))
            for i, m in enumerate(models)
        ),
        machines=(make_machine("buy", "1000", days),),
        objective=random.choice(["cheapest", "most-runs"]),
        budget_cents=random.choice([None, 2000_00, 3000_00]),
    )


def part_of(whole: Machine, gpus: int, days: dict[str, float]) -> Machine:
    """Some of the GPUs of a machine, on which runs take so many days."""
    return replace(
        whole,
        machine_id=f"{whole.machine_id}:part:{gpus}",
        gpu_count=gpus,
        times={model: make_time(d) for model, d in days.items()},
        lines=(),
        owned=0,
        part_of=whole.machine_id,
        whole_gpus=whole.gpu_count,
    )


def own_windows(runs: int, *, allocation: bool) -> PlanningProblem:
    """Single runs over three years, each with a window of its own."""
    random = Random(1)
    days = {"a": 30.0, "b": 45.0, "c": 70.0}
    experiments = []
    for n in range(runs):
        length = random.randrange(120, 600)
        low = random.randrange(0, 1095 - length)
        experiments.append(make_experiment(f"e{n}", random.choice("abc"), 1, low, low + length))
    whole = make_machine("m", "20000", {model: each / 3 for model, each in days.items()})
    rent = make_rental("r", "6", {model: each / 3 for model, each in days.items()})
    granted = replace(
        make_rental("g", "0", {model: each / 3 for model, each in days.items()}),
        allocation="campus",
        in_base=False,
    )
    hours = Allocation(allocation_id="campus", name="campus", gpu_hours_a_year=Decimal(2000))
    return make_problem(
        year_days=(0, 365, 730, 1095),
        experiments=tuple(experiments),
        machines=(whole, part_of(whole, 1, days)),
        rentals=(rent, granted) if allocation else (rent,),
        allocations=(hours,) if allocation else (),
        max_machines=1 if allocation else None,
        rules=Rules(slack=Decimal("0.15"), lead_days=30),
    )


def quarters(kinds: int) -> PlanningProblem:
    """Runs with windows of their own over three years; machines that are written off, of which
    each is a little faster and dearer than the one before, to be ordered in every quarter."""
    problem = own_windows(40, allocation=False)
    days = {"a": 10.0, "b": 15.0, "c": 23.3}
    return replace(
        problem,
        machines=tuple(
            make_machine(
                f"m{n}",
                str(round(20_000 * 1.08**n)),
                {model: each / 1.07**n for model, each in days.items()},
            )
            for n in range(kinds)
        ),
        order_days=tuple(round(91.25 * quarter) for quarter in range(12)),
        rules=Rules(slack=Decimal("0.15"), lead_days=30, life_months=60, grant_months=36),
    )
