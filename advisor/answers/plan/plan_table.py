"""What a plan buys, rents and pays, as a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from advisor.answers.plan.plan_calendar import short_day
from advisor.answers.plan.plan_sentence import written_cost
from advisor.answers.wording import PREDICTED_MARK, is_own_price
from advisor.costs.cost_terms import stated_terms
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.runs_on_bought_machines import costs_of_runs
from advisor.planning.solver.money.cents import fixed_cost_cents, purchase_cents, run_cost_cents
from advisor.planning.solver.plan import Plan
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import percent
from price_catalog.model import OWN_QUOTE

COLUMNS = ("do", "what", "runs", "cost", "prices of")


def what_to_do(loaded: Loaded, plan: Plan, width: int) -> str:
    """The purchases, rentals and payments of a plan, as wide as the terminal."""
    rows = _rows(loaded, plan)
    if not rows:
        return "Nothing can be done."
    room = _room(rows, width)
    if room < max(len(row["what"]) for row in rows):  # the month of a price is enough
        for row in rows:
            day, _, month = row["prices of"].partition(" ")
            row["prices of"] = month if day.isdigit() else row["prices of"]
        room = _room(rows, width)
    lines = []
    for row in rows:
        first, *rest = fill(row["what"], max(room, 20)).split("\n")
        lines.append({**row, "what": first})
        lines += [dict.fromkeys(COLUMNS, " ") | {"what": f"  {line}"} for line in rest]
    return to_table(lines, COLUMNS, frozenset({"runs", "cost"}))


def run_lines(loaded: Loaded, plan: Plan) -> list[str]:
    """What a run costs on what is bought, and over which life that is counted."""
    runs, terms = costs_of_runs(loaded, plan), loaded.grant.terms
    if not runs:
        return []
    by_machine: dict[str, list[str]] = {}
    for run in runs:
        cost = loaded.grant.currency.written(Decimal(f"{run.cost:.3g}"))
        mark = PREDICTED_MARK if run.estimated else ""
        by_machine.setdefault(run.machine, []).append(
            f"{mark}{cost} ({loaded.models[run.model].name})"
        )
    each = "; ".join(f"{', '.join(costs)} on {name}" for name, costs in by_machine.items())
    used = "all" if terms.utilisation == 1 else percent(terms.utilisation)
    years = f"{terms.lifetime_years:g} {'year' if terms.lifetime_years == 1 else 'years'}"
    rest = stated_terms(replace(terms, lifetime_years=Decimal(5), utilisation=Decimal(1)))
    also = f"; also counted:{rest}" if rest else ""
    life = f"{years}, {used} of it in use{also}"
    return [f"A run costs {each}: its part of the machine's life, {life}."]


def _room(rows: list[dict[str, str]], width: int) -> int:
    """What the other columns leave of a line for what is bought, rented or paid."""
    others = [name for name in COLUMNS if name != "what"]
    return width - sum(2 + max(len(name), *(len(row[name]) for row in rows)) for name in others)


def _rows(loaded: Loaded, plan: Plan) -> list[dict[str, str]]:
    problem, rules = loaded.problem, loaded.problem.rules
    machines = {m.machine_id: m for m in problem.machines}
    rentals = {r.rental_id: r for r in problem.rentals}
    rows: list[dict[str, str]] = []

    def add(do: str, what: str, runs: int | str, cents: int, prices_of: str = "-") -> None:
        written = written_cost(loaded, cents)
        rows.append(dict(zip(COLUMNS, (do, what, str(runs), written, prices_of), strict=True)))

    for p in plan.purchases:
        machine = machines[p.machine_id]
        when = f"in year {problem.year_of(problem.orders[p.order]) + 1}"
        if problem.order_days is not None:  # not the first day of a year
            when = f"on {short_day(problem.start + timedelta(days=int(problem.orders[p.order])))}"
        runs = sum(
            w.runs
            for w in plan.work
            if (problem.whole(w.machine_id), w.order) == (p.machine_id, p.order)
        )
        priced = short_day(min(line.quoted_on for line in machine.lines))
        if any(is_own_price(loaded.quotes[line.quote_id]) for line in machine.lines):
            priced += f", {OWN_QUOTE}"
        cost = p.count * purchase_cents(machine, rules, problem.orders[p.order])
        if machine.upgrade_of is None:
            add(f"buy {when}", f"{p.count} × ({machine.label})", runs, cost, priced)
        else:
            add(f"add {when}", machine.label, runs, cost, priced)
    paid: Counter[str] = Counter()
    for placed in plan.placed:
        paid[placed.machine_id if placed.machine_id in rentals else ""] += run_cost_cents(
            problem, placed
        )
    rented: Counter[str] = Counter()
    for r in plan.rented:
        rented[r.rental_id] += r.runs
    for rental_id, runs in rented.items():
        rental, at_once, cost = (
            rentals[rental_id],
            plan.at_once(rental_id),
            paid[rental_id],
        )
        if rental.allocation is not None:
            add("use", rental.label, runs, cost)
            continue
        what = rental.label if at_once == 1 else f"{at_once} × ({rental.label}) at once"
        add("rent", what, runs, cost, short_day(rental.priced_on))
    used: Counter[str] = Counter()  # parts of two machines may have one name
    for work in plan.work:
        if machines[problem.whole(work.machine_id)].owned:
            used[machines[work.machine_id].label] += work.runs
    for label in dict.fromkeys(m.label for m in problem.machines):
        if label in used:
            add("use", label, used[label], 0)
    for fixed in problem.fixed:
        cents = fixed_cost_cents(fixed, rules)
        add("pay", f"{fixed.name}, year {fixed.year + 1}", "-", cents)
    if paid[""]:
        # The report has its overhead in a line of its own.
        overhead = loaded.grant.charges_overhead and problem.rules.electricity_in_base
        what = f"electricity{', with overhead' if overhead else ''}"
        add("pay", what, "-", paid[""])
    return rows
