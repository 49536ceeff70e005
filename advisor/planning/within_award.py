"""What a plan asks for in the currency of its grant, against what the grant has.

A plan is searched in US cents. Its report converts each price, parts what is paid by year, and adds
up anew, so that the sum of rounded lines can be some hundredths off. What is asked for decides: a
plan that asks for more than there is is none, and another is searched for with less.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_UP, Decimal

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.budget import AskedAmounts, asked_amounts
from advisor.planning.sensitivity.infeasible import There
from advisor.planning.solver.money.cents import cents_by_year
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem

ROUNDED_OFF = 50
"""In the smallest unit of a currency: what rounding takes off a hundred lines at most."""


def asked_usd(loaded: Loaded, plan: Plan) -> Decimal:
    """What a plan costs in US dollars as its report adds it up: a budget of it is enough."""
    if loaded.grant.currency.code == "USD":
        return Decimal(plan.cost_cents) / 100
    return asked_amounts(loaded, plan).total * loaded.grant.currency.usd_per_unit


def there(loaded: Loaded) -> There:
    """What there is in US dollars, not rounded to their cents."""
    grant = loaded.grant
    rate, stated = grant.currency.usd_per_unit, grant.stated.get("budget.total")
    shared = grant.stated.get("budget.shared")
    own_usd = grant.budget_usd if stated is None else stated * rate
    theirs_usd = grant.shared_usd if shared is None else shared * rate
    return There(own_usd=own_usd, others_usd=theirs_usd * grant.shared_reach)


def searched(loaded: Loaded) -> PlanningProblem:
    """The problem with so much more money that a plan is found which is within the award only as it
    is rounded."""
    problem, currency = loaded.problem, loaded.grant.currency
    if problem.budget_cents is None or currency.code == "USD":
        return problem
    more = currency.to_usd(Decimal(ROUNDED_OFF).scaleb(-currency.decimals))
    return replace(problem, budget_cents=problem.budget_cents + int(more * 100))


def within_award(loaded: Loaded, problem: PlanningProblem, plan: Plan) -> PlanningProblem | None:
    """``problem`` with less money, where more is asked for ``plan`` than the grant has; None where
    it is within it."""
    asked, tight = asked_amounts(loaded, plan), problem
    if problem.budget_cents is not None and asked.there is not None and asked.total > asked.there:
        beyond = _cents(loaded, asked.total - asked.there)
        tight = replace(tight, budget_cents=min(problem.budget_cents, plan.cost_cents) - beyond)
    if problem.year_budget_cents is not None and asked.there_by_year is not None:
        years = _less_by_year(loaded, problem, plan, asked)
        tight = replace(tight, year_budget_cents=years)
    return None if tight == problem else tight


def _cents(loaded: Loaded, amount: Decimal) -> int:
    """Of US dollars, rounded up."""
    usd = amount * loaded.grant.currency.usd_per_unit
    return int((usd * 100).to_integral_value(ROUND_UP))


def _less_by_year(
    loaded: Loaded, problem: PlanningProblem, plan: Plan, asked: AskedAmounts
) -> tuple[int, ...]:
    """The money of each year: less where a plan asks for more than there is by then."""
    assert problem.year_budget_cents is not None and asked.there_by_year is not None
    left = list(problem.year_budget_cents)
    paid = cents_by_year(problem, plan.purchases, plan.placed)
    for year in range(len(left)):
        years = slice(0 if problem.carry_over else year, year + 1)
        beyond = sum(asked.by_year[years], Decimal(0)) - sum(asked.there_by_year[years])
        if beyond > 0:
            spare = sum(left[years]) - sum(paid[years])
            left[year] -= max(spare, 0) + _cents(loaded, beyond)
    return tuple(left)
