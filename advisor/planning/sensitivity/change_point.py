"""From which value of one number on a plan decides otherwise, by solving again (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from advisor.planning.sensitivity.changes import Change, vary
from advisor.planning.sensitivity.trials import Trials, decision
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Machine, PriceLine, Rental, RunTime
from advisor.planning.solver.program.placement import cost_of

CENT = Decimal("0.01")
CREEPS = 3
"""How often a value a cent nearer than a computed place is tried."""
_CHANGES = {"quote": "price", "rental": "rent_price", "measurement": "days"}
"""Which change of `vary` moves the number of such a row; a rule is moved by its own name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One number that the decision rests on, and how far it is moved."""

    words: str
    kind: str
    """``quote``, ``rental``, ``measurement`` or ``rule`` ..."""
    row: str
    """... and which one ``here`` comes from."""
    here: Decimal
    far: Decimal
    unit: str
    quantum: Decimal = CENT
    after: str = ""
    line: PriceLine | None = None
    timed: tuple[str, Machine | Rental, RunTime] | None = None

    def change(self, value: Decimal) -> Change:
        text = str(value.quantize(self.quantum))
        name = _CHANGES.get(self.kind)
        return {self.row: text} if name is None else {name: (self.row, text)}


def change_point(trials: Trials, each: Input) -> Decimal | None:
    """The value nearest to what it is now with another decision, or None before ``far``.

    Between two plans the place where one becomes dearer than the other is computed, and it is
    solved again there and just before: is there a third? Where more or less can be done from some
    value on, nothing computes that: then what lies between is halved.
    """
    here, step = decision(trials.plan), each.quantum if each.far > each.here else -each.quantum
    same, different = each.here.quantize(each.quantum), each.far.quantize(each.quantum)
    other = trials.solve(each.change(different))
    if other is not None and decision(other) == here:
        return None
    crept = 0
    while (between := int((different - same) / step)) > 1:
        place = _crossing(trials, each, other, same, different)
        if place == different and crept < CREEPS:  # is there a third that comes before it?
            crept += 1
            guess = different - step
        elif place is None or place == different:
            guess = same + between // 2 * step
        else:
            guess = place
        found = trials.solve(each.change(guess))
        if found is not None and decision(found) == here:
            same = guess
        else:
            different, other = guess, found
    return different


def _crossing(
    trials: Trials, each: Input, other: Plan | None, same: Decimal, different: Decimal
) -> Decimal | None:
    """From where on another plan of the same worth is cheaper than the plan, or the money is not
    enough for this one; None where that is nowhere between."""
    plan, budget = trials.plan, trials.problem.budget_cents
    step = each.quantum if different > same else -each.quantum

    def is_past(number: int) -> bool:
        problem = vary(trials.problem, each.change(same + number * step))
        paid, judged = cost_of(problem, plan.purchases, plan.placed)
        if budget is not None and paid > budget:
            return True
        if other is None or other.value != plan.value:
            return False
        return judged > cost_of(problem, other.purchases, other.placed)[1]

    low, high = 0, int((different - same) / step)
    if is_past(low) or not is_past(high):
        return None
    while high - low > 1:
        number = (low + high) // 2
        low, high = (low, number) if is_past(number) else (number, high)
    return (same + high * step).quantize(each.quantum)
