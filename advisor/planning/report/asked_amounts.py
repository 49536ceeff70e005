"""What a plan costs in the currency of its grant, as the report's tables add it up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.award_years import paid_beside
from advisor.planning.report.funder_part import budget_table
from advisor.planning.report.in_currency import InCurrency
from advisor.planning.report.material import Material, material_of
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.sentences import budget_num, shared_by_year
from advisor.planning.report.who_pays import who_pays
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.charges import Charge
from advisor.planning.solver.plan import Plan

UNEXPLAINED = Explanation(alternatives=(), binds=(), thresholds=(), ask=())


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAmounts:
    """Amounts with overhead, in the grant's currency, each the sum of converted prices."""

    total: Decimal
    bought: Mapping[tuple[str, int], Decimal]
    """By machine and order."""
    rented: Mapping[str, Decimal]
    """By rental."""
    fixed: tuple[Decimal, ...]
    """In the order of the problem's."""
    electricity: Decimal
    of_funder: Decimal
    """What the funder is asked for of the total, as its form asks for it."""
    beside: Decimal
    """What machines cost beyond that, which others must pay."""
    by_year: tuple[Decimal, ...]
    """The total of each award year."""
    there: Decimal | None
    """What the grant has for all of it, with what others pay; None where no sum is named ..."""
    there_by_year: tuple[Decimal, ...] | None
    """... and the same of each award year."""


def asked_amounts(loaded: Loaded, plan: Plan) -> AskedAmounts:
    """What each thing costs that a plan does. A total that is converted as a whole can differ from
    the sum of its converted lines, which is what the funder reads."""
    given = material_of(loaded, plan, UNEXPLAINED)
    to = InCurrency(given)

    def paid(charge: Charge[Num]) -> Decimal:
        return to.num(charge.direct).value + to.num(charge.indirect).value

    rented: dict[str, Decimal] = defaultdict(Decimal)
    electricity = Decimal(0)
    for r in given.costs.running:
        if r.rented:
            rented[r.placed[0].machine_id] += paid(r.charge)
        else:
            electricity += paid(r.charge)
    form = funder_form(loaded.grant.funder)
    budget = budget_table(given, form, to)
    asked = who_pays(given, form, budget, to).asked
    *by_year, _ = (cell.value for cell in budget.rows[-1] if isinstance(cell, Num))
    beside = paid_beside(given)
    there = None if loaded.grant.budget_usd is None else budget_num(loaded, given.ledger)
    return AskedAmounts(
        total=to.num(given.costs.total).value,
        bought={(e.machine.machine_id, e.order): paid(e.charge) for e in given.costs.equipment},
        rented=rented,
        fixed=tuple(paid(f.charge) for f in given.costs.fixed),
        electricity=electricity,
        of_funder=asked.value,
        beside=Decimal(0) if beside is None else to.num(beside).value,
        by_year=tuple(by_year),
        there=None if there is None else to.num(there).value,
        there_by_year=_there_by_year(given, to),
    )


def _there_by_year(given: Material, to: InCurrency) -> tuple[Decimal, ...] | None:
    grant = given.loaded.grant
    if grant.year_budget_usd is None:
        return None
    own = [
        to.num(given.book.setting(f"budget.per_year[{n}]", usd, "usd", f"budget of year {n}"))
        for n, usd in enumerate(grant.year_budget_usd, start=1)
    ]
    theirs = [to.num(num).value for num in shared_by_year(given.loaded, given.ledger)]
    beside = theirs or [Decimal(0)] * len(own)
    return tuple(a.value + b * grant.shared_reach for a, b in zip(own, beside, strict=True))
