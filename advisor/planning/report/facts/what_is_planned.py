"""Facts and tables of the plan: the question, what to do, the calendar, and the runners-up."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

from advisor.costs.amount_words import day_words
from advisor.planning.grant.problem_of_grant import called_by
from advisor.planning.report.document import Cell, ReportTable, capital
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report_numbers import (
    budget_num,
    cost_of_other,
    runs_done,
    runs_of_other,
    solve_num,
)
from advisor.planning.runs_on_bought_machines import costs_of_runs
from advisor.planning.sensitivity.explain import Alternative, worse_by
from advisor.planning.solver.plan import Plan, last_day


def question(given: Material) -> dict[str, Any]:
    """What was wanted, and what there is for it."""
    grant, setting = given.grant, given.setting
    length, unit = given.years(), "years" if grant.months > 12 else "year"
    if grant.months % 12:
        length, unit = setting("grant.months", grant.months, "months", "the grant"), "months"
    return {
        "objective": grant.objective,
        "length": length,
        "unit": unit,
        "start": day_words(grant.start),
        "budget": None if grant.budget is None else budget_num(given.loaded, given.ledger),
        "per_year": [
            setting(f"budget.per_year[{n}]", amount, "money", f"budget of year {n}")
            for n, amount in enumerate(grant.year_budget or (), start=1)
        ],
    }


def experiments_table(given: Material) -> ReportTable:
    """Each experiment of the grant."""
    grant, rows = given.grant, list[tuple[Cell, ...]]()
    for n, wanted in enumerate(grant.experiments, start=1):
        model = given.loaded.model_of(wanted)
        since, due = "every year", "each year's end"
        if not wanted.each_year:
            since = day_words(wanted.not_before or grant.start)
            due = day_words(wanted.by or grant.year_dates[-1])
        key, words = f"experiments[{n}].runs", f"{wanted.name}: runs"
        runs = given.setting(key, wanted.runs, "runs", words)
        name = called_by(wanted, model)
        rows.append((name, model.name, runs, since, due, wanted.who or "not said"))
    columns = ("experiment", "model", "runs", "from", "to be done by", "for whom")
    return ReportTable.of("Experiments", columns, rows)


def what_to_do(given: Material) -> dict[str, Any]:
    """What is rented and left out, and how sure it is that nothing is better."""
    plan, ledger, rentals = given.plan, given.ledger, given.rentals
    gap, label = None, "last day of the plan"
    if not plan.proven and plan.gap is not None and plan.gap < 1:
        words = "gap to the best bound"
        gap = ledger.leaf("plan", round(plan.gap, 6), "share", words, what="gap")

    def left_out(experiment: str, runs: int) -> Num:
        words, origin = f"{experiment}: runs left out", {"experiment_id": experiment}
        return ledger.leaf("plan", runs, "runs", words, **origin, what="left out")

    return {
        "runs": runs_done(given),
        "end": _when(given, plan),
        "last_day": ledger.leaf("plan", round(plan.finish_day, 2), "days", label, what="finish"),
        "gap": gap,
        "among": given.loaded.among(plan),
        "rent": [
            f"{'Rent' if rentals[name].allocation is None else 'Use'} {rentals[name].label}"
            for name in plan.rented
        ],
        "left_out": [
            (given.experiments[name].name, left_out(name, runs))
            for name, runs in plan.left_out.items()
        ],
    }


def schedule_table(given: Material) -> ReportTable:
    """Which run goes where and when; runs that do the same on the same days are one line."""
    options = given.problem.options()
    alike: Counter[tuple[str, str, date, date]] = Counter()
    # By machine before the run's number: which of two like runs is where is the solver's chance.
    placed = sorted(
        given.plan.placed, key=lambda p: (p.pieces[0][0], p.experiment_id, p.machine_id, p.run)
    )
    for p in placed:
        first, last = given.day(p.pieces[0][0]), given.day(last_day(p.pieces[-1][1]))
        alike[p.experiment_id, p.machine_id, first, last] += 1
    rows: list[tuple[Cell, ...]] = []
    for (experiment_id, option_id, first, last), runs in alike.items():
        e, option = given.experiments[experiment_id], options[option_id]
        number: Cell = "one"
        if runs > 1:
            origin = {"experiment_id": experiment_id, "option_id": option_id}
            origin |= {"starts": str(first), "ends": str(last)}
            label = f"{e.name} on {option.label}, from {day_words(first)}"
            what = "runs on the same days"
            number = given.ledger.leaf("plan", runs, "runs", label, what=what, **origin)
        days = map(day_words, (first, last, given.day(given.problem.due(e))))
        time = given.time(option.times[e.model], f"{e.model_name or e.model} on {option.label}")
        rows.append((e.name, option.label, number, *days, time))
    columns = ("experiment", "machine", "runs", "starts", "ends", "due", "training")
    return ReportTable.of("Schedule", columns, rows)


def running_table(given: Material) -> ReportTable | None:
    """What runs use and cost: electricity, or rent."""
    rows: list[tuple[Cell, ...]] = []
    for r in given.costs.running:
        name, charge = given.experiments[r.experiment_id].name, r.charge
        cost = (charge.amount, charge.price, charge.each, charge.direct)
        rows.append((name, r.label, f"year {r.year + 1}", r.runs, *cost))
    if not rows:
        return None
    total = given.ledger.total([r.charge.direct for r in given.costs.running], "running, direct")
    rows.append(("total", "", "", "", "", "", "", total))
    columns = ("experiment", "machine", "starts in", "runs", "use of a run", "at", "a run")
    return ReportTable.of("Running", (*columns, "all runs"), rows, total=True)


def a_run(given: Material) -> ReportTable | None:
    """What a run costs of the life of what is bought, as a ranking counts it."""
    rows: list[tuple[Cell, ...]] = []
    for run in costs_of_runs(given.loaded, given.plan):
        name, label = given.loaded.models[run.model].name, f"a run of {run.model} on {run.machine}"
        origin = {"name": "a run", "machine_id": run.machine_id, "model": run.model}
        cost = given.ledger.leaf("unit", run.cost, "money", label, **origin)
        time = given.machines[run.machine_id].times[run.model]
        rows.append((name, run.machine, given.time(time, f"{name} on {run.machine}"), cost))
    columns = ("model", "machine", "training", "a run")
    return ReportTable.of("A run", columns, rows) if rows else None


def _when(given: Material, plan: Plan) -> str:
    return day_words(given.day(last_day(plan.finish_day)))


def alternatives_table(given: Material) -> ReportTable:
    """The plan and its runners-up."""
    total, rows = given.costs.total, list[tuple[Cell, ...]]()
    rows.append(("recommended", total, runs_done(given), _when(given, given.plan)))
    for other in given.explanation.alternatives:
        figures: tuple[Cell, ...] = (None, None, "")
        if other.plan is not None:
            cost, runs = cost_of_other(given.ledger, other), runs_of_other(given.ledger, other)
            figures = (cost, runs, _when(given, other.plan))
        rows.append((other.label, *figures))
    return ReportTable.of("Alternatives", ("plan", "cost", "runs", "done by"), rows)


def why_not(given: Material, other: Alternative) -> dict[str, Any]:
    """What is worse about another plan, and what it takes; a difference is of the two amounts that
    are shown."""
    plan, ledger, label = other.plan, given.ledger, other.label
    if plan is None:
        return {"label": label, "plan": None}

    def less(of: list[Num], words: str) -> Num:
        return ledger.compute("difference", of, "money", f"{label}: {words}")

    budget, cost = given.problem.budget_cents, cost_of_other(ledger, other)
    facts: dict[str, Any] = dict.fromkeys(("over", "more", "less", "fewer", "later"))
    facts |= {"label": label, "plan": plan, "proven": other.proven, "takes": _takes(given, other)}
    if other.over_budget and budget is not None and plan.cost_cents > budget:
        over = less([cost, budget_num(given.loaded, ledger)], "over the budget")
        return facts | {"over": over}
    two, words = [cost, given.costs.total], "difference in cost"
    if plan.cost_cents > given.plan.cost_cents:
        facts["more"] = less(two, words)
    elif plan.cost_cents < given.plan.cost_cents:
        facts["less"] = less(two[::-1], words)
        facts["dearer"] = worse_by(given.problem, given.plan, plan)
    fewer = given.plan.runs - plan.runs
    if fewer > 0:
        words = f"{label}: fewer runs"
        facts["fewer"] = solve_num(ledger, other.change, fewer, "runs", words, "fewer-runs")
    later = round(plan.finish_day - given.plan.finish_day)
    if later > 0:
        facts["later"] = solve_num(ledger, other.change, later, "days", f"{label}: later", "later")
    return facts


def _takes(given: Material, other: Alternative) -> str:
    """What another plan buys and rents."""
    plan, bought = other.plan, list[str]()
    assert plan is not None
    for p in plan.purchases:
        label = given.machines[p.machine_id].label
        words, origin = f"{other.label}: {label}", {"machine_id": p.machine_id, "order": p.order}
        change = other.change
        count = solve_num(given.ledger, change, p.count, "machines", words, "bought", **origin)
        day = day_words(given.day(given.problem.orders[p.order]))
        bought.append(f"{count} ({label}) on {day}")
    hired = [given.rentals[name] for name in plan.rented]
    does = {
        "buys": bought,
        "rents": [r.label for r in hired if r.allocation is None],
        "uses": [r.label for r in hired if r.allocation is not None],
    }
    parts = [f"it {verb} {'; '.join(labels)}" for verb, labels in does.items() if labels]
    return capital("; ".join(parts) or "it takes what is owned")
