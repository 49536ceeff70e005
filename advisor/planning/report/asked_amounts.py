"""What a plan costs in the currency of its grant, as the report's tables add it up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.funder_part import budget_table
from advisor.planning.report.in_currency import InCurrency
from advisor.planning.report.material import material_of
from advisor.planning.report.number_ledger import Num
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
    asked = who_pays(given, form, budget_table(given, form, to), to).asked
    return AskedAmounts(
        total=to.num(given.costs.total).value,
        bought={(e.machine.machine_id, e.order): paid(e.charge) for e in given.costs.equipment},
        rented=rented,
        fixed=tuple(paid(f.charge) for f in given.costs.fixed),
        electricity=electricity,
        of_funder=asked.value,
    )
