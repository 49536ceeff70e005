"""What a plan asks for in the currency of its grant, held against the limits of its funder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from advisor.planning.grant.funder import Limit, LimitOf
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.budget import WhoPays, budget_table, who_pays
from advisor.planning.report.budget_entries import paid_beside
from advisor.planning.report.in_currency import InCurrency
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import budget_num, shared_by_year
from advisor.planning.report.plan_costs import Material, material_of
from advisor.planning.report.report import plain_text
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.money.charges import Charge
from advisor.planning.solver.money.prices import machine_price, paid_price
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
    budget = budget_table(given, to)
    asked = who_pays(given, budget, to).asked
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


def beyond_limits(given: Material, paid: WhoPays, to: InCurrency) -> list[str]:
    """Each limit of the form that the request is beyond, with the amount that is."""
    amounts: Mapping[LimitOf, tuple[str, Callable[[], Num | None]]] = {
        "asked": ("This request asks for {}", lambda: paid.asked),
        "system": ("The machines cost {} before tax", lambda: _system(given, to)),
        "item": ("The dearest machine costs {}", lambda: _dearest(given, to)),
        "years": ("This grant is for {} years", lambda: _years(given)),
    }
    found = []
    for limit in given.form.limits:
        if limit.currency not in (None, given.loaded.grant.currency.code):
            continue
        words, amount = amounts[limit.of]
        num = amount()
        if num is not None and _is_beyond(limit, num.value):
            found.append(f"{words.format(num)}: {limit.says}")
    return found


def limits_told(loaded: Loaded, plan: Plan) -> list[str]:
    """The same as sentences, for who plans."""
    given = material_of(loaded, plan, UNEXPLAINED)
    to = InCurrency(given)
    paid = who_pays(given, budget_table(given, to), to)
    return list(map(plain_text, beyond_limits(given, paid, to)))


def _is_beyond(limit: Limit, value: Decimal) -> bool:
    over = limit.above is not None and value > limit.above
    return over or (limit.below is not None and value < limit.below)


def _years(given: Material) -> Num:
    return given.book.setting(
        "grant.years", given.loaded.grant.years, "years", "years of the grant"
    )


def _dearest(given: Material, to: InCurrency) -> Num | None:
    nums = [to.num(num) for num, _ in _paid_for(given, taxed=True)]
    return max(nums, key=lambda num: num.value, default=None)


def _system(given: Material, to: InCurrency) -> Num | None:
    nums = [
        to.num(given.ledger.compute("product", [count, num], "usd", "machines before tax"))
        for num, count in _paid_for(given, taxed=False)
    ]
    if not nums:
        return None
    return given.ledger.total(nums, "all machines, before tax", nums[0].unit)


def _paid_for(given: Material, *, taxed: bool) -> list[tuple[Num, Num]]:
    """What one machine costs its buyers, and how many there are; no share of a campus's."""
    rules = given.loaded.problem.rules
    rules = rules if taxed else replace(rules, vat=Decimal(0))
    found = []
    for e in given.costs.equipment:
        if e.machine.share_of is None:
            price = machine_price(given.ledger, e.machine, e.lines)
            day = given.loaded.problem.orders[e.order]
            found.append((paid_price(given.ledger, e.machine, price, rules, day)[0], e.count))
    return found
