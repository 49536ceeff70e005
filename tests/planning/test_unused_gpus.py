"""GPUs that the lab has and a plan leaves unused are told of, with the reason."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec import structs

from advisor.answers.plan.plan_answer import short_decided
from advisor.answers.plan.plan_lines import decided_text
from advisor.costs.amounts import seconds_words
from advisor.planning.grant.grant_file import Owned
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned import Planned
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.solver.problem import Machine, PlanningProblem, Rules
from advisor.planning.solver.solve import solve
from advisor.planning.unused_gpus import unused_gpus, unused_line
from advisor.store import Store
from tests.planning.forms_for_tests import TODAY, report_for
from tests.planning.test_plan_terms import part
from tests.plans_for_tests import make_experiment, make_machine, make_problem, make_rental

LAB = replace(
    make_machine("owned:1:a6000:3", None, {}, gpu_count=3), label="3 × A6000 (owned)", owned=1
)


def lab(**runs_of: int) -> PlanningProblem:
    """Three cards, of which a run takes two: nobody timed three, nor one."""
    return make_problem(
        year_days=(0, 365),
        experiments=tuple(make_experiment(m, m, runs, 0, 365) for m, runs in runs_of.items()),
        machines=(LAB, part(LAB, 2, {"a": 100.0})),
        rentals=(make_rental("r", "2", {"a": 30.0, "b": 30.0}),),
    )


def told(problem: PlanningProblem) -> list[str]:
    return [unused_line(each) for each in unused_gpus(problem, solve(problem))]


def test_a_card_that_no_run_is_timed_on_is_told_of() -> None:
    assert told(lab(a=3)) == [
        "Unused: 1 of the 3 GPUs of 3 × A6000, since no time is known for a run on it."
    ]


def test_machines_of_which_none_is_needed() -> None:
    one = make_machine("owned:1:x:1", None, {"a": 100.0}, label="1 × X (owned)", owned=3)
    problem = replace(lab(a=2), machines=(one,))
    (enough,) = told(problem)
    assert enough.endswith("since the runs need no more.")
    dear = replace(problem, rules=Rules(usd_per_kwh=Decimal(50)))
    assert told(dear) == [
        "Unused: 3 GPUs of 3 × (1 × X), since work on them would not make the plan cheaper."
    ]


@pytest.mark.parametrize(
    ("days", "reason"),
    [(400.0, "no run on them would be over in time"), (30.0, None)],
)
def test_a_machine_that_is_too_slow(days: float, reason: str | None) -> None:
    slow = make_machine("owned:1:x:2", None, {"a": days}, label="2 × X (owned)", gpu_count=2)
    found = told(replace(lab(a=1), machines=(slow,)))
    assert found == ([] if reason is None else [f"Unused: 2 GPUs of 2 × X, since {reason}."])


def test_the_same_is_in_the_terminal_and_in_the_justification(planned: Planned) -> None:
    assert planned.plan is not None and planned.explanation is not None
    kinds = planned.loaded.problem.machines
    model = planned.loaded.problem.experiments[0].model
    slow: Machine = make_machine(
        "owned:1:x:2", None, {model: 9999.0}, label="2 × X (owned)", gpu_count=2
    )
    problem = replace(planned.loaded.problem, machines=(*kinds, slow))
    loaded = replace(planned.loaded, problem=problem)
    line = "Unused: 2 GPUs of 2 × X, since no run on them would be over in time."
    for text in (short_decided(loaded, planned.plan, 100), decided_text(loaded, planned.plan, 100)):
        assert line in text
    assert "Unused" not in short_decided(planned.loaded, planned.plan, 100)


def test_a_justification_says_what_stays_unused(store_path: Path) -> None:
    """One run, where the lab has six cards: it needs only some of them."""
    grant = read_grant(EXAMPLE)
    wanted = structs.replace(grant.experiments[1], each_year=False, runs=1)
    owned = (Owned(gpu="RTX A6000", gpu_count=4), Owned(gpu="RTX 3090", gpu_count=2))
    grant = replace(grant, experiments=(wanted,), owned=owned, rent=False)
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    assert planned.plan is not None
    unused = unused_gpus(planned.loaded.problem, planned.plan)
    text = to_markdown(report_for(planned).parts()[0])
    some, every = unused
    assert some.unused < some.gpus and every.unused == every.gpus
    assert f"of the {some.gpus} GPUs of {some.name} stay unused, since {some.why}." in text
    # A machine that does nothing at all says so where it is named.
    assert f"({every.machine.label.removesuffix(' (owned)')}), unused since {every.why}" in text
    assert f"GPUs of {every.name} stay unused" not in text


def test_a_life_of_machines_is_told_as_what_plans_are_compared_by(planned: Planned) -> None:
    words = (
        "Comparison. We compared plans by what their machines lose in value within the grant, "
        "over a life of 5 years, not by what is paid for them."
    )
    told, annex = map(to_markdown, report_for(planned, lifetime_years=Decimal(5)).parts())
    assert words in told
    assert re.search(r"over a life of 5 \[\d+\] years, not by what is paid\.", annex)
    assert "Comparison." not in to_markdown(report_for(planned).parts()[0])


def test_one_second_is_one() -> None:
    assert [seconds_words(each) for each in (1, 1.0, 0.5, 2, 60)] == [
        "1 second",
        "1 second",
        "0.5 seconds",
        "2 seconds",
        "60 seconds",
    ]
