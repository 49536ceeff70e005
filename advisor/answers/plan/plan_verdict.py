"""What a script reads of a plan: its first line with every number that is said there (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from advisor.answers.checklist import doubt_objects
from advisor.answers.plan.plan_doubts import plan_doubts
from advisor.answers.plan.plan_sentence import plan_sentence, runs_if_awarded, runs_on_own
from advisor.answers.plan.plan_text import NO_PLAN
from advisor.planning.report.budget import asked_and_beside
from advisor.planning.runs_on_bought_machines import costs_of_runs
from advisor.planning.sensitivity.solved_amounts import Finding, Solved
from advisor.planning.solver.money.cents import whole_budget_cents
from advisor.planning.solver.plan import last_day
from advisor.planning.solver.rentals import cents_at_lowest

if TYPE_CHECKING:
    from advisor.planning.grant.problem_of_grant import Loaded
    from advisor.planning.planned_grant import Planned
    from advisor.planning.solver.plan import Plan


def plan_verdict(planned: Planned, command: str, *, quick: bool) -> Mapping[str, Any]:
    """The first line of the answer with its numbers, and its doubts; amounts are in the grant's
    own currency."""
    plan, loaded = planned.plan, planned.loaded
    assert plan is not None
    problem, (asked, beside) = loaded.problem, asked_and_beside(loaded, plan)
    names = {each.experiment_id: each.name for each in problem.experiments}
    if_awarded, odds = runs_if_awarded(loaded, plan)
    over = problem.start + timedelta(days=last_day(plan.finish_day))
    grant, money = loaded.grant, loaded.grant.currency.rounded
    budget = whole_budget_cents(problem)
    return {
        "sentence": plan_sentence(loaded, plan),
        "objective": loaded.grant.objective,
        "proven": plan.proven,
        "gap": plan.gap,
        "runs": plan.runs,
        "runs_asked": sum(each.runs for each in problem.experiments),
        "runs_on_own_machines": runs_on_own(loaded, plan),
        "runs_only_if_awarded": if_awarded,
        "odds_of_award": odds,
        "left_out": {names[each]: runs for each, runs in plan.left_out.items()},
        "done_by": str(over) if plan.runs else None,
        "currency": loaded.grant.currency.code,
        "total": money(Decimal(plan.cost_cents) / 100),
        "budget": None if budget is None else money(Decimal(budget) / 100),
        "total_at_lowest_rents": money(Decimal(cents_at_lowest(problem, plan)) / 100),
        "rents": _rents(loaded, plan),
        "purchases": _purchases(loaded, plan),
        "asked_of_funder": asked,
        "at_most_from_others": None if grant.shared_by is None else grant.shared,
        "paid_beside_it": beside or None,
        "runs_on_own": [
            {"model": run.model, "machine": run.machine, "days": run.days, "cost": run.cost}
            for run in costs_of_runs(loaded, plan)
        ],
        "counted_by": loaded.grant.terms._asdict(),
        "doubts": doubt_objects(plan_doubts(planned, command, quick=quick)),
        "ways_out": _ways(loaded, planned.ways_out),
    }


def no_plan_verdict(planned: Planned) -> Mapping[str, Any]:
    """Where no plan is possible: what would make one so, each with its numbers."""
    return {
        "sentence": NO_PLAN,
        "runs": 0,
        "out_of_time": planned.out_of_time,
        "ways_out": _ways(planned.loaded, planned.ways_out),
    }


def _purchases(loaded: Loaded, plan: Plan) -> list[dict[str, Any]]:
    """The price of each machine, and between what it lies if it is ordered today."""
    machines = {each.machine_id: each for each in loaded.problem.machines}
    found = []
    for each in plan.purchases:
        machine = machines[each.machine_id]
        low, high = loaded.ordered_today(machine) or (machine.price, machine.price)
        found.append(
            {
                "machine": machine.label,
                "count": each.count,
                "price": machine.price,
                "if_ordered_today_low": low,
                "if_ordered_today_high": high,
                "quoted_on": str(min(line.quoted_on for line in machine.lines)),
            }
        )
    return found


def _rents(loaded: Loaded, plan: Plan) -> list[dict[str, Any]]:
    """Each rate that is planned with, the median of its providers', and the lowest of them; ``vat``
    is charged on top of either, as a share."""
    used = plan.rented
    return [
        {
            "gpus": each.gpus,
            "kind": each.kind,
            "at_once": plan.at_once(each.rental_id),
            "provider": each.who,
            "an_hour": each.price_per_hour,
            "vat": float(loaded.problem.rules.vat),
            "date": str(each.priced_on),
            "providers": len(each.offers),
            "lowest_provider": each.lowest.who,
            "lowest_an_hour": each.lowest.price_per_hour,
            "lowest_date": str(each.lowest.priced_on),
        }
        for each in loaded.problem.rentals
        if each.rental_id in used and each.allocation is None
    ]


def _ways(loaded: Loaded, found: Sequence[Finding]) -> list[dict[str, Any]]:
    return [
        {
            "words": each.text(loaded.grant.currency.exactly),
            "numbers": [
                {
                    "value": word.value,
                    "unit": word.unit.replace("money", loaded.grant.currency.unit),
                }
                for word in each.words
                if isinstance(word, Solved)
            ],
        }
        for each in found
    ]
