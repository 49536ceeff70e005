"""A grant with its plan and what explains it: what reports and answers are made from."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.sensitivity.solved_amounts import Finding
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Machine, PlanningProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A grant with its plan, or with the ways out where there is none."""

    loaded: Loaded
    plan: Plan | None
    explanation: Explanation | None
    ways_out: tuple[Finding, ...] = ()
    out_of_time: bool = False
    """Whether the time was over before any way out was found."""


def bought_at_a_price(problem: PlanningProblem, plan: Plan) -> list[Machine]:
    """The machines of the problem that a plan pays for."""
    names = {each.machine_id for each in plan.purchases}
    return [each for each in problem.machines if each.machine_id in names and each.lines]
