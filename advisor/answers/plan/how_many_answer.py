"""The answer of `advisor plan --how-many` and `--largest`: what the money trains, what to doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

from advisor.answers.checklist import Doubt, doubt_block, doubt_objects
from advisor.answers.plan.plan_calendar import short_day
from advisor.answers.plan.plan_doubts import doubt_of, price_command, rent_doubts
from advisor.answers.plan.plan_sentence import does, overhead_words, things_done, written_cost
from advisor.answers.wording import PREDICTED_MARK
from advisor.costs.amount_words import counted, day_words
from advisor.costs.cost_of_owning import CENT
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.how_many import MOST_RUNS, Reach, ReachTask, problem_of, timed_models
from advisor.planning.planned_grant import bought_at_a_price
from advisor.planning.runs_on_bought_machines import with_terms
from advisor.planning.solver.plan import Plan, last_day
from advisor.planning.solver.problem import Machine, Rental
from advisor.planning.solver_process import Search
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Store
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from advisor.typed_input import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How many runs a grant pays for: of one model, or of each from the largest."""

    grant: Grant
    found: tuple[Reach, ...]
    of_all: bool
    today: date

    @property
    def first(self) -> Reach | None:
        """The one asked for, or the largest of which a run is possible; None where none is."""
        return next((each for each in self.found if each.runs), None)


def reached(
    store: Store,
    path: Path,
    *,
    model: str | None,
    by: date | None,
    today: date,
    seconds: float,
    typed: Mapping[str, str | None] = MappingProxyType({}),
) -> Reached:
    """How many runs of a model, or of each model from the largest, the budget allows; ``typed`` as
    for a plan. Raises InputError and StoreError."""
    grant = with_terms(read_grant(path), typed)
    if by is not None and not grant.start < by <= grant.year_dates[-1]:
        raise InputError(
            f"{by} is outside the grant, which runs from {grant.start} to {grant.year_dates[-1]}"
        )
    if grant.budget is None and grant.year_budget is None:
        raise InputError(f"{grant.file} has no budget: write [budget] with a total")
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
        models = [snapshot.model(model)] if model else timed_models(reader, snapshot, grant)
        problems = tuple(
            (each, problem_of(reader, snapshot, grant, each, by=by, today=today)) for each in models
        )
    found = Search(ReachTask(problems=problems, each_s=seconds)).run()
    return Reached(grant=grant, found=tuple(found), of_all=model is None, today=today)


def reach_rows(answer: Reached) -> list[dict[str, Any]]:
    """One row a model, the names stable."""
    money, rows = answer.grant.currency, []
    for found in answer.found:
        row: dict[str, Any] = {
            "model": found.model.recipe_id,
            "name": found.model.name,
            "parameters": found.model.parameters,
            "runs": found.runs,
            "more_may_be_possible": found.runs == MOST_RUNS,
            **dict.fromkeys(("cost_usd", "cost", "over_by")),
            "proven": True,
            **dict.fromkeys(("times", "takes")),
        }
        if (plan := found.plan) is not None:
            cost = Decimal(plan.cost_cents) / 100
            row |= {"cost_usd": money.in_usd(cost).quantize(CENT), "cost": money.exactly(cost)}
            row |= {"over_by": _over_by(answer.grant, plan), "proven": plan.proven}
            row |= {"times": _bases(found, plan), "takes": does(answer.grant, found.problem, plan)}
        rows.append(row)
    return rows


def reach_verdict(answer: Reached, command: str) -> Mapping[str, Any]:
    """The first line of the answer and its doubts, for a script."""
    first = answer.first
    return {
        "sentence": reach_sentence(answer),
        "model": None if first is None else first.model.recipe_id,
        "runs": 0 if first is None else first.runs,
        "doubts": doubt_objects(reach_doubts(answer, command)),
    }


def reach_text(answer: Reached, command: str, width: int) -> str:
    """The answer in a sentence, of several models all of them, and what to doubt; ``command`` is
    what was typed."""
    blocks = [fill(reach_sentence(answer), width)]
    if len(answer.found) > 1:
        rows = [_short_row(answer.grant, each) for each in answer.found]
        table = to_table(rows, list(rows[0]), frozenset({"runs", "cost"}), width=width)
        blocks.append(f"{table}\n{fill('Each row is of that model alone.', width)}")
    doubts = reach_doubts(answer, command)
    return "\n\n".join([*blocks, *doubt_block("Before you rely on it", doubts, width)])


def reach_sentence(answer: Reached) -> str:
    """How many runs, for how much, done by when and with what; for an e-mail."""
    first, grant = answer.first, answer.grant
    if first is None or first.plan is None:
        named = "any model" if answer.of_all else answer.found[0].model.name
        words = f"On what is on sale this money pays for no run of {named}"
        return f"{words}: try a larger budget or a smaller model."
    plan, name = first.plan, first.model.name
    least = "at least " if first.runs == MOST_RUNS else ""
    runs = f"{least}{counted(first.runs, 'run')}"
    begins = f"This money pays for {runs} of {name}"
    if answer.of_all:
        begins = f"The largest model that this money trains is {name}: {runs}"
    begins += f" (no more than {MOST_RUNS} are counted)" if least else ""
    estimated = ", by estimated times" if "predicted" in _bases(first, plan) else ""
    return (
        f"{begins} for {written_cost(grant, plan.cost_cents)} {overhead_words(grant)}, done by "
        f"{day_words(_over_by(grant, plan))}{estimated}: {does(grant, first.problem, plan)}."
    )


def reach_doubts(answer: Reached, command: str) -> list[Doubt]:
    """What to settle first; ``command`` is the one that was typed, with its file."""
    first = answer.first
    if first is None or first.plan is None:
        return []
    plan, problem = first.plan, first.problem
    doubts = list(filter(None, [doubt_of(first.model, _ways(first, plan)[0])]))
    if bought := bought_at_a_price(problem, plan):
        machine = max(bought, key=lambda each: each.price)
        line = max(machine.lines, key=lambda each: each.unit_price * each.quantity)
        whom = f"ask {line.vendor} again" if machine.on_sale else "no seller of it new is known"
        words = f"{machine.label} has a price of {line.quoted_on:%B %Y}: {whom}"
        doubts.append(Doubt("price", words, price_command(line)))
    doubts += rent_doubts(problem, answer.grant.currency, answer.today, plan)
    if not plan.proven:
        words = "not proven that no more runs are possible: give it more time"
        doubts.append(Doubt("proof", words, f"{command} --seconds 600"))
    if answer.grant.experiments:
        words = "the grant's own experiments are left aside here; the plan that does them"
        doubts.append(Doubt("plan", words, command.partition(" --")[0]))
    return doubts


def _short_row(grant: Grant, found: Reach) -> dict[str, str]:
    plan, name = found.plan, found.model.name
    if plan is None:
        return {"model": name, "runs": "0", "cost": "-", "done by": "-", "with": "-"}
    mark = PREDICTED_MARK if "predicted" in _bases(found, plan) else ""
    things = (
        f"{verb} {thing.partition(' from ')[0].partition(' at ')[0]}"
        for verb, thing in things_done(grant, found.problem, plan)
    )
    return {
        "model": name,
        "runs": f"{mark}{found.runs}{' or more' if found.runs == MOST_RUNS else ''}",
        "cost": written_cost(grant, plan.cost_cents),
        "done by": short_day(_over_by(grant, plan)),
        "with": "; ".join(things) or "what is owned",
    }


def _over_by(grant: Grant, plan: Plan) -> date:
    return grant.start + timedelta(days=last_day(plan.finish_day))


def _ways(found: Reach, plan: Plan) -> list[Machine | Rental]:
    """What the runs are done on, what does most of them first."""
    runs, options = Counter(p.machine_id for p in plan.placed), found.problem.options()
    return [options[name] for name, _ in runs.most_common()]


def _bases(found: Reach, plan: Plan) -> str:
    """How the times of what is used were obtained."""
    times = (way.times[found.model.recipe_id] for way in _ways(found, plan))
    return " and ".join(sorted({time.basis for time in times}))
