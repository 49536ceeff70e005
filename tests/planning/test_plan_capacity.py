"""What a budget can train: the question of a plan turned round."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.how_many import problem_of, reach, timed_models
from advisor.planning.solver.money.cents import purchase_cents, run_cents
from advisor.planning.solver.plan import last_day
from advisor.planning.solver.problem import PlanningProblem
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Store
from tests.planning.grant_files import FREELY, SMALL, grant_file


def most_runs_by_filling(problem: PlanningProblem) -> int:
    """The most runs of the one model asked for: the cheapest way to n runs, for each n in turn.

    Every machine does as many runs as fit into the days that it has; there is no rental.
    """
    (e,) = problem.experiments
    assert problem.budget_cents is not None
    options: list[tuple[int, int]] = []
    free = 0
    for machine in problem.machines:
        time = machine.times.get(e.model)
        if time is None:
            continue
        assert run_cents(machine, e.model, problem.rules) == 0
        lead = machine.ready_day if machine.owned else problem.rules.lead_days
        fits = int((problem.due(e) - lead + 1e-6) // problem.elapsed(time))
        if machine.owned:
            free += fits * machine.owned
        elif fits > 0:
            options.append((purchase_cents(machine, problem.rules), fits))
    cheapest = [0] * (free + 1)
    while len(cheapest) <= e.runs:
        n = len(cheapest)
        cost = min((cents + cheapest[max(n - fits, 0)] for cents, fits in options), default=None)
        if cost is None or cost > problem.budget_cents:
            break
        cheapest.append(cost)
    return min(len(cheapest) - 1, e.runs)


BUDGETS = ("$9,000", "$150,000")


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_question_turned_round_agrees_with_filling_machines(
    store_path: Path, tmp_path: Path, budget: str
) -> None:
    owned = '[[owned]]\ngpu = "RTX A6000"\ngpu_count = 2\n[rentals]'
    text = SMALL.replace("$30,000", budget).replace("[rentals]", owned, 1) + FREELY
    grant = read_grant(grant_file(tmp_path, text))
    today = date(2026, 11, 21)
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        # Every fourth model with each budget, with either day for half of them.
        models = timed_models(reader, snapshot, grant)[BUDGETS.index(budget) :: 4]
        for number, model in enumerate(models):
            by = (None, date(2027, 5, 1))[number % 2]
            problem = problem_of(reader, snapshot, grant, model, by=by, today=today)
            found = reach(model, problem, 60)
            assert found.runs == most_runs_by_filling(found.problem), model


def test_the_largest_model_may_be_one_with_predicted_times_alone(
    store_path: Path, tmp_path: Path
) -> None:
    def names(text: str) -> list[str]:
        grant = read_grant(grant_file(tmp_path, text))
        with Store(store_path).reading() as reader:
            found = timed_models(reader, take_snapshot(reader), grant)
        return [model.recipe_id for model in found]

    predicted = SMALL.replace("predictions = false", "predictions = true")
    largest = names(predicted)
    assert largest.index("pythia-12b") < largest.index("pythia-6.9b")
    assert "pythia-12b" not in names(SMALL)
    assert names(SMALL)[0] == "pythia-6.9b"


def test_what_ends_with_the_last_day_of_a_grant_is_done_by_that_day() -> None:
    """A grant of 730 days from 1 January 2027 ends with 31 December 2028."""
    ends = (730.0, 730.0001, 729.5, 729.0, 0.2, 0.0)
    assert [last_day(end) for end in ends] == [729, 729, 729, 728, 0, 0]
