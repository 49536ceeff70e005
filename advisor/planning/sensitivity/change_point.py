"""From which value of one number on a plan decides otherwise, by solving again (pure)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor
from typing import NamedTuple

from advisor.planning.sensitivity.changes import Change, vary
from advisor.planning.sensitivity.trials import Trials, decision
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Machine, PlanningProblem, PriceLine, Rental, RunTime
from advisor.planning.solver.program.placement import cost_of

CENT = Decimal("0.01")
STEPS = 20
"""Where no place can be computed, values are round by the power of ten that is at most this part of
what is tried."""
MOST_SOLVES = 14
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


class ChangePoint(NamedTuple):
    """Where the decision changes."""

    at: Decimal
    """With another decision ..."""
    exact: bool
    """... and the value a cent, or whatever else is counted, nearer to what it is now has none;
    else the change is between it and the next round value toward what it is now."""


def change_point(trials: Trials, each: Input) -> ChangePoint | None:
    """The value nearest to what it is now with another decision, or None before ``far``.

    Between two plans the place where one becomes dearer than the other is computed, and only
    then is it solved again, there and just before: is there a third? Where more or less can be
    done from some value on, nothing computes that: then what lies between is halved, at round
    values.
    """
    here, toward = decision(trials.plan), 1 if each.far > each.here else -1
    step = max(_round(abs(each.far - each.here) / STEPS), each.quantum)
    far = step * (floor(each.far / step) if toward > 0 else ceil(each.far / step))
    same = now = each.here.quantize(each.quantum)
    different: Decimal | None = None
    known = [p for p in trials.known if decision(p) != here]
    places = [_crossing(trials, each, p, now, far) for p in known]
    places.append(_over_budget(trials, each, now, far))
    inside = [at for at in places if at is not None and (far - at) * toward > 0]
    guess = min(inside, key=lambda at: at * toward, default=far)
    just_before = None
    for _ in range(MOST_SOLVES):
        other, place = trials.solve(each.change(guess)), None
        if other is not None and decision(other) == here:
            if guess == far:
                return None
            same = guess
            if different is None:  # a rival that looked so is none
                inside = [at for at in inside if (at - same) * toward > 0]
                guess = min(inside, key=lambda at: at * toward, default=far)
                continue
        else:
            different = guess
            if different in inside:
                place = different
            elif other is not None:
                place = _crossing(trials, each, other, same, different)
            # What costs as much as the plan may have come before it there: once more, a bit nearer.
            if place is None and different == just_before:
                place = different
        if abs(different - same) <= each.quantum:
            return ChangePoint(different.quantize(each.quantum), exact=True)
        if place == different:
            guess = different - toward * each.quantum
            just_before = None if just_before == different else guess
        elif place is not None:
            guess = place
        else:
            low, high = sorted((same, different))
            first, last = floor(low / step) + 1, ceil(high / step) - 1
            if first > last:
                break
            guess = (first + last) // 2 * step
    if different is None:
        return None
    return ChangePoint(different.quantize(each.quantum), exact=False)


def _round(value: Decimal) -> Decimal:
    """The power of ten that is no more than it."""
    return Decimal(1).scaleb(value.adjusted()) if value else value


def _crossing(
    trials: Trials, each: Input, other: Plan, same: Decimal, different: Decimal
) -> Decimal | None:
    """From where on another plan of the same worth is cheaper than the plan; None where it is not,
    or always is."""
    plan = trials.plan
    if other.value != plan.value:
        return None

    def dearer(problem: PlanningProblem) -> int:
        return _cost(problem, plan)[1] - _cost(problem, other)[1]

    return _first(trials, each, same, different, dearer)


def _over_budget(trials: Trials, each: Input, here: Decimal, far: Decimal) -> Decimal | None:
    """From where on the money is not enough for the plan; None where it always is."""
    budget = trials.problem.budget_cents
    if budget is None:
        return None
    return _first(trials, each, here, far, lambda p: _cost(p, trials.plan)[0] - budget)


def _cost(problem: PlanningProblem, plan: Plan) -> tuple[int, int]:
    """What is paid for a plan, and what it is judged by, in cents."""
    return cost_of(problem, plan.purchases, plan.work, plan.rented)


def _first(
    trials: Trials,
    each: Input,
    same: Decimal,
    different: Decimal,
    cents: Callable[[PlanningProblem], int],
) -> Decimal | None:
    """The first value from ``same`` on, up to ``different``, where something is more than nothing,
    which it is not before; None where it is nowhere, or at ``same``."""
    step = each.quantum if different > same else -each.quantum

    def at(number: int) -> int:
        return cents(vary(trials.problem, each.change(same + number * step)))

    low, high = 0, int((different - same) / step)
    if not at(low) <= 0 < at(high):
        return None
    while high - low > 1:
        number = (low + high) // 2
        low, high = (low, number) if at(number) > 0 else (number, high)
    return (same + high * step).quantize(each.quantum)
