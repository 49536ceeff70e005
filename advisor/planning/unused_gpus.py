"""GPUs that the lab has and a plan leaves unused, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from advisor.planning.solver.machines import Group, groups, runs_that_fit
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Experiment, Machine, PlanningProblem

LONGEST = "running.longest_run_days"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedGpus:
    """Of one owned machine, or of several that are alike."""

    machine: Machine
    unused: int
    gpus: int
    """In all."""
    why: str
    key: str = ""
    """Of the grant's file, which changes that."""

    @property
    def name(self) -> str:
        """As a sentence has it."""
        label = self.machine.label.removesuffix(" (owned)")
        return label if self.machine.owned == 1 else f"{self.machine.owned} × ({label})"


def unused_gpus(problem: PlanningProblem, plan: Plan) -> list[UnusedGpus]:
    """Of machines that stay as they are; those that are given more GPUs have work for them."""
    grown = {p.machine_id for p in plan.purchases}
    upgraded = {m.upgrade_of for m in problem.machines if m.machine_id in grown}
    sizes = {m.machine_id: m.gpu_count for m in problem.machines}
    units = {(p.machine_id, p.order, p.unit) for p in plan.placed if p.machine_id in sizes}
    found = []
    for machine in problem.machines:
        if not machine.owned or machine.part_of is not None or machine.machine_id in upgraded:
            continue
        gpus = machine.owned * machine.gpu_count
        used = sum(sizes[m] for m, _, _ in units if problem.whole(m) == machine.machine_id)
        if used < gpus:
            why, key = _why(problem, plan, machine, gpus - used)
            unused = UnusedGpus(machine=machine, unused=gpus - used, gpus=gpus, why=why, key=key)
            found.append(unused)
    return found


def _why(problem: PlanningProblem, plan: Plan, machine: Machine, unused: int) -> tuple[str, str]:
    here = [g for g in groups(problem) if problem.whole(g.machine.machine_id) == machine.machine_id]
    free = [g for g in here if g.machine.gpu_count <= unused]
    models = {e.model for e in problem.experiments}
    them = "it" if unused == 1 else "them"
    if not any(models & g.machine.times.keys() for g in free):
        return f"no time is known for a run on {them}", ""
    if not any(runs_that_fit(problem, g, e) for g in free for e in problem.experiments):
        return _too_slow(problem, free, problem.experiments, them)
    mine = {g.machine.machine_id for g in here}
    if plan.runs and all(p.machine_id in mine for p in plan.placed) and not plan.left_out:
        return "the runs need no more", ""
    unpaid = {m.machine_id for m in problem.machines if m.owned}
    unpaid |= {r.rental_id for r in problem.rentals if r.allocation is not None}
    paid = {p.experiment_id for p in plan.placed if problem.whole(p.machine_id) not in unpaid}
    slow = [
        e
        for e in problem.experiments
        if e.experiment_id in paid | plan.left_out.keys()
        and any(e.model in g.machine.times for g in free)
        and not any(runs_that_fit(problem, g, e) for g in free)
    ]
    why = _too_slow(problem, free, slow, them) if slow else ("", "")
    if why[1] == LONGEST:
        return why
    if plan.proven and problem.objective == "cheapest":
        by = "" if problem.rules.lifetime_years is None else ", by what machines lose in value"
        return f"work on {them} would not make the plan cheaper{by}", ""
    return f"the plan found no better use{' of it' * (unused == 1)}", ""


def _too_slow(
    problem: PlanningProblem, free: Sequence[Group], runs: Sequence[Experiment], them: str
) -> tuple[str, str]:
    """Why none of these runs on them ends in time: the limit of a run, the slack, or the days
    themselves; and the key that changes it."""
    pairs = [(g, e) for g in free for e in runs if e.model in g.machine.times]
    days, name = min((problem.elapsed(g.machine.times[e.model]), e.name) for g, e in pairs)
    of = "" if len(runs) == len(problem.experiments) else f" of {name}"
    takes = f"a run{of} on {them} takes {days:,.0f} days or more"

    def fits(**changes: object) -> bool:
        rules = replace(problem.rules, **changes)  # type: ignore[arg-type]
        loose = replace(problem, rules=rules)
        return any(runs_that_fit(loose, group, e) for group, e in pairs)

    limit = problem.rules.longest_run_days
    if limit is not None and fits(longest_run_days=None):
        why = f"{takes}, and no run may take more than {limit:f} days"
        return why, LONGEST
    if problem.rules.slack and fits(slack=Decimal(0), longest_run_days=None):
        share = f"{float(problem.rules.slack) * 100:.3g} %"
        return f"{takes}, and {share} of the days before every deadline stay free", "running.slack"
    return f"{takes}, which is after its deadline", ""


def unused_line(each: UnusedGpus) -> str:
    """For a terminal."""
    gpus = "GPU" if each.unused == 1 else "GPUs"
    number = f"{each.unused} {gpus}"
    if each.unused < each.gpus:
        number = f"{each.unused} of the {each.gpus} GPUs"
    table, _, key = each.key.partition(".")
    mend = f" {key} under [{table}] changes that." if key else ""
    return f"Unused: {number} of {each.name}, since {each.why}.{mend}"
