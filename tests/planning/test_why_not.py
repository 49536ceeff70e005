"""Of a grant that is too large to be explained whole, what every funder asks is worked out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.planning.sensitivity import explain as explaining
from advisor.planning.sensitivity.changes import vary
from advisor.planning.sensitivity.explain import explain
from advisor.planning.solver.solve import solve
from tests.plans_for_tests import make_experiment, make_machine, make_problem, make_rental


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "MOST_COLUMNS", 0)


def test_where_all_is_rented_the_whole_is_done_on_own_machines() -> None:
    problem = make_problem(
        machines=(make_machine("own", "9000", {"a": 10.0}),),
        rentals=(make_rental("lent", "1", {"a": 10.0}),),
        experiments=(make_experiment("first", "a", 2, 0, 100),),
    )
    plan = solve(problem)
    assert plan.rented and not plan.purchases
    (other,) = explain(problem, plan).alternatives
    assert other.plan is not None and other.plan.purchases and not other.plan.rented
    assert other.change["no_rentals"] and "only_runs" not in other.change
    assert other.proven
    assert other.plan.cost_cents > plan.cost_cents


def test_where_it_buys_as_well_only_the_rented_runs_are_looked_at() -> None:
    problem = make_problem(
        machines=(
            make_machine("own", "900", {"a": 30.0, "b": 3000.0}),
            make_machine("large", "50000", {"b": 30.0}),
        ),
        rentals=(make_rental("lent", "2", {"a": 30.0, "b": 30.0}),),
        experiments=(
            make_experiment("one", "a", 3, 0, 100),
            make_experiment("two", "b", 1, 0, 100),
        ),
    )
    plan = solve(problem)
    assert plan.rented and plan.purchases
    (other,) = explain(problem, plan).alternatives
    assert other.change["only_runs"] == (("two", 1),)
    assert other.plan is not None
    assert [p.machine_id for p in other.plan.purchases] == ["large"]
    assert other.plan.cost_cents == 50_000_00
    # It can be found again by the number's origin, which JSON has with lists.
    as_json = {**other.change, "only_runs": [["two", 1]]}
    assert solve(vary(problem, as_json)).cost_cents == other.plan.cost_cents


def test_without_an_upgrade_no_machine_that_is_alike_has_it() -> None:
    mine = make_machine("owned:1:x:1", None, {"a": 40.0}, label="1 × X (owned)", owned=1)
    machines = tuple(replace(mine, machine_id=f"owned:1:x:1:{n}") for n in (1, 2))
    more = tuple(
        make_machine(
            f"upgrade:{each.machine_id}:2",
            "500",
            {"a": 20.0},
            label="1 more X in the lab's 1 × X (2 in all)",
            upgrade_of=each.machine_id,
        )
        for each in machines
    )
    other = make_machine("other", "600", {"a": 20.0})
    problem = make_problem(
        machines=(*machines, *more, other), experiments=(make_experiment("one", "a", 7, 0, 100),)
    )
    left = vary(problem, {"without": more[0].machine_id}).machines
    assert [each.machine_id for each in left] == [*(m.machine_id for m in machines), "other"]


def test_where_all_is_bought_renting_is_looked_at() -> None:
    problem = make_problem(
        machines=(make_machine("own", "900", {"a": 30.0}),),
        rentals=(make_rental("lent", "20", {"a": 30.0}),),
        experiments=(make_experiment("one", "a", 2, 0, 100),),
    )
    plan = solve(problem)
    assert plan.purchases and not plan.rented
    (other,) = explain(problem, plan).alternatives
    assert other.label == "buy nothing, rent instead"
    assert other.plan is not None and not other.plan.purchases
