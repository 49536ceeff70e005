"""What a plan says of the times and hours that it rests on."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from advisor.answers.plan_answer import plan_doubts
from advisor.answers.plan_lines import what_to_do
from advisor.answers.plan_sentence import plan_sentence
from advisor.planning.grant.cautions import cautions, uncharged_usd
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.planned import Planned
from advisor.planning.report.markdown_csv_json import to_markdown
from advisor.planning.sensitivity.explain import Alternative
from advisor.planning.solver.plan import Placed
from advisor.planning.solver.problem import Rules
from advisor.store import Store
from tests.planning.forms_for_tests import NOTHING, SMALL, TODAY, grant_head, read, report_for
from tests.plans_for_tests import make_machine, make_problem

ONE_RUN = grant_head("{model}") + "[purchases]\nallowed = {buys}\n"
NO_RENT = "[rentals]\nallowed = false\n"


def planned_of(store_path: Path, folder: Path, text: str) -> Planned:
    loaded = load_grant(Store(store_path), read(folder, text), TODAY)
    found = plan_loaded(loaded, 60, quick=True)
    assert found.plan is not None and found.plan.runs
    return found


def test_a_run_over_two_machines_is_measured_on_two(store_path: Path, tmp_path: Path) -> None:
    text = ONE_RUN.format(model="pythia-2.8b", buys="false") + NO_RENT
    owned = '[[owned]]\ngpu = "RTX A6000"\ngpu_count = 4\nmachines = 2\n'
    running = "[running]\nnetwork_gbit = 100\nlongest_run_days = 300\n"
    found = planned_of(store_path, tmp_path, text + owned + running)
    (time,) = (d for d in plan_doubts(found, "advisor plan", quick=True) if d.about == "time")
    assert time.words == "estimated; nobody measured Pythia 2.8B on 2 machines of 4 × A6000"
    assert time.command == "advisor bench --model pythia-2.8b --gpus 8 --nodes 2 --on slurm"


def test_a_card_has_the_name_that_it_is_sold_by(store_path: Path, tmp_path: Path) -> None:
    only = '[rentals]\ngpus = ["RTX PRO 6000"]\n'
    text = ONE_RUN.format(model="pythia-1b", buys="false") + only
    found = planned_of(store_path, tmp_path, text)
    assert "1 × RTX PRO 6000 at " in to_markdown(report_for(found).parts()[0])
    labels = {each.label for each in found.loaded.problem.rentals}
    assert labels and not any("Blackwell" in label for label in labels)


def test_hours_whose_price_nobody_says_are_not_called_free_to_a_funder(
    store_path: Path, tmp_path: Path
) -> None:
    hours = '[[allocations]]\nname = "Campus condo"\nkind = "condo"\ngpu = "H100"\n{price}'
    text = ONE_RUN.format(model="pythia-410m", buys="false") + NO_RENT + hours
    asks = "The grant does not say what an hour of Campus condo costs: it counts as free. Ask"
    for price, free in (("", False), ("usd_per_gpu_hour = 0\n", True)):
        found = planned_of(store_path, tmp_path, text.format(price=price))
        told = cautions(found.loaded.grant, found.loaded.problem, found.plan)  # type: ignore[arg-type]
        said = to_markdown(report_for(found).parts()[0])
        assert any(each.startswith(asks) for each in told) is not free
        assert (" GPU-hours, free of charge." in said) is free
        assert (" GPU-hours, for which this plan has no cost." in said) is not free


def test_a_share_that_is_bought_instead_is_no_machine_of_our_own(
    store_path: Path, tmp_path: Path
) -> None:
    share = '[[allocations]]\nname = "Node"\ngpu = "H100"\nmax_gpus = 4\nbuy_in = "60k"\n'
    share += "buy_in_on = 2026-11-02\nlasts_years = 5\n"
    text = ONE_RUN.format(model="pythia-410m", buys="false") + share
    found = planned_of(store_path, tmp_path, text)
    alone = planned_of(store_path, tmp_path, text + NO_RENT)
    assert found.explanation is not None and alone.plan is not None and alone.plan.purchases
    other = Alternative(
        label="rent nothing", change={"no_rentals": True}, plan=alone.plan, over_budget=False
    )
    told = replace(found.explanation, alternatives=(other,))
    grant = replace(found.loaded.grant, buy=True)
    given = replace(found, explanation=told, loaded=replace(found.loaded, grant=grant))
    said = to_markdown(report_for(given).parts()[0])
    assert "Doing the same work on a share of Node costs $60,000 in all" in said


def test_many_rented_at_once_are_asked_for(store_path: Path, tmp_path: Path) -> None:
    text = ONE_RUN.format(model="pythia-410m", buys="false")
    for runs, asked in ((2, False), (40, True)):
        many = text.replace('"pythia-410m"', f'"pythia-410m"\nruns = {runs}\nby = 2027-04-01')
        found = planned_of(store_path, tmp_path, many)
        told = cautions(found.loaded.grant, found.loaded.problem, found.plan)  # type: ignore[arg-type]
        assert any("are rented at once: ask" in each for each in told) is asked


def test_how_many_are_rented_at_once_says_the_first_line_and_the_request(
    store_path: Path, tmp_path: Path
) -> None:
    """Forty runs by a day are no work for one GPU."""
    text = ONE_RUN.format(model="pythia-410m", buys="false")
    for runs in (1, 40):
        many = text.replace('"pythia-410m"', f'"pythia-410m"\nruns = {runs}\nby = 2027-04-01')
        found = planned_of(store_path, tmp_path, many)
        plan = found.plan
        assert plan is not None
        counts = [plan.at_once(name) for name in dict.fromkeys(r.rental_id for r in plan.rented)]
        units = {(p.machine_id, p.unit) for p in plan.placed}
        assert sum(counts) == len(units) == runs
        sentence = plan_sentence(found.loaded, plan)
        table = what_to_do(found.loaded, plan, 100)
        request = to_markdown(report_for(found).parts()[0]).partition("## Justification")[0]
        for count in counts:
            several = count > 1
            assert (f"{count} × (" in sentence and ") at once from " in sentence) is several
            assert (f"{count} × (" in table and ") at once " in table) is several
            assert (f"(on-demand: up to {count} at once)" in request) is several
            assert ("(on-demand)" in request) is not several


def test_a_machine_without_a_free_day_is_told_with_what_utilisation_leaves(tmp_path: Path) -> None:
    grant = read(tmp_path, SMALL)
    machine = make_machine("own", None, {"a": 99.0})
    run = Placed(experiment_id="e", run=1, machine_id="own", order=0, unit=1, pieces=((0.5, 99.5),))
    plan = replace(NOTHING, placed=(run,))
    says = "own trains on 99 of 100 days of an award year: no day is left for anything else."
    for share, left in (("1", ""), ("0.8", " Only the 20 % that utilisation leaves are free.")):
        rules = Rules(utilisation=Decimal(share))
        problem = make_problem(machines=(machine,), rules=rules)
        told = [each for each in cautions(grant, problem, plan) if "trains on" in each]
        assert told == [says + left]


def test_the_first_sentence_says_what_of_its_machines_others_pay(
    store_path: Path, tmp_path: Path
) -> None:
    text = ONE_RUN.format(model="pythia-410m", buys="true") + NO_RENT
    shared = 'cost_share = 0.25\ncost_share_by = "the physics lab"\n'
    horizon = 'start = 2027-01-01\nfunder = "horizon"\n'
    for given, words in (
        (text, None),
        (text.replace("allowed = true\n", f"allowed = true\n{shared}"), "the physics lab pays"),
        (text.replace("start = 2027-01-01\n", horizon), "others must pay"),
    ):
        found = planned_of(store_path, tmp_path, given)
        assert found.plan is not None
        said = plan_sentence(found.loaded, found.plan)
        rest = uncharged_usd(found.loaded.problem, found.plan)
        assert bool(rest) is (words is not None)
        told = f"({words} {found.loaded.grant.currency.written(rest)} more for its machines)"
        assert (told in said) is bool(rest) and ("for its machines" in said) is bool(rest)
