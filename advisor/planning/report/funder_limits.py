"""Where a request is outside what its funder takes: told to the lab before it is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal

from advisor.planning.grant.checked_toml import exact
from advisor.planning.grant.funder import FunderForm, Limit, LimitOf, funder_form
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.asked_amounts import UNEXPLAINED
from advisor.planning.report.funder_part import budget_table
from advisor.planning.report.in_currency import InCurrency
from advisor.planning.report.material import Material, material_of
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.report import Words, joined
from advisor.planning.report.who_pays import WhoPays, who_pays
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.prices import machine_price, paid_price


def beyond_limits(given: Material, form: FunderForm, paid: WhoPays, to: InCurrency) -> list[Words]:
    """Each limit of the form that the request is beyond, with the amount that is."""
    amounts: Mapping[LimitOf, tuple[str, Callable[[], Num | None], str]] = {
        "asked": ("This request asks for ", lambda: paid.asked, ""),
        "system": ("The machines cost ", lambda: _system(given, to), " before tax"),
        "item": ("The dearest machine costs ", lambda: _dearest(given, to), ""),
        "years": ("This grant is for ", lambda: _years(given), " years"),
    }
    found: list[Words] = []
    for limit in form.limits:
        if limit.currency not in (None, given.loaded.grant.currency.code):
            continue
        begins, amount, ends = amounts[limit.of]
        num = amount()
        if num is not None and _is_beyond(limit, num.value):
            found.append((begins, num, f"{ends}: {limit.says}"))
    return found


def limits_told(loaded: Loaded, plan: Plan) -> list[str]:
    """The same as sentences, for who plans."""
    given, form = material_of(loaded, plan, UNEXPLAINED), funder_form(loaded.grant.funder)
    to = InCurrency(given)
    paid = who_pays(given, form, budget_table(given, form, to), to)
    return [joined(words) for words in beyond_limits(given, form, paid, to)]


def _is_beyond(limit: Limit, value: Decimal) -> bool:
    over = limit.above is not None and value > exact(limit.above)
    return over or (limit.below is not None and value < exact(limit.below))


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
