"""What a plan says of the times and hours that it rests on."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from advisor.answers.plan.plan_doubts import plan_doubts
from advisor.answers.plan.plan_sentence import plan_sentence
from advisor.answers.plan.plan_table import what_to_do
from advisor.answers.plan.plan_text import decided_text
from advisor.answers.wording import days_and_ends
from advisor.cli.command_parser import build_parser
from advisor.planning.grant.cautions import cautions
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.planned import Planned
from advisor.planning.report.formats.markdown_csv_json import to_markdown
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
    days = r"≈[\d.]+ days \([\d.]+–[\d.]+\) a run"
    where = "estimated: Pythia 2.8B was not measured on 2 machines of 4 × A6000"
    assert re.fullmatch(f"{days}, {where}", time.words)
    assert time.command == "advisor bench --model pythia-2.8b --gpus 8 --nodes 2 --on slurm"


def test_the_longest_work_has_its_interval_where_it_is_rented_too(
    store_path: Path, tmp_path: Path
) -> None:
    """And is measured where it runs: on the cluster, on the rented GPU, or looked up where no
    name for it is known."""
    base = ONE_RUN.format(model="pythia-1b", buys="false")
    hours = '[[allocations]]\nname = "Campus"\nkind = "campus"\ngpu = "A100 80GB PCIe"\n'
    bench = "advisor bench --model pythia-1b --gpus 1 --on "
    every: list[str] = []
    for text, where, command in (
        (base + '[rentals]\ngpus = ["RTX PRO 6000"]\n', "RTX PRO 6000", f"{bench}sky --gpu "),
        (base + '[rentals]\ngpus = ["MI300X"]\n', "MI300X", "advisor predict --model pythia-1b "),
        (
            base + NO_RENT + hours + "max_gpus = 1\n[running]\nlongest_run_days = 300\n",
            "A100 80GB PCIe",
            f"{bench}slurm",
        ),
    ):
        found = planned_of(store_path, tmp_path, text)
        assert found.plan is not None
        doubts = plan_doubts(found, "advisor plan", quick=True)
        (time,) = (d for d in doubts if d.about == "time")
        every += [d.words for d in doubts if d.about == "rent"]
        option = found.loaded.problem.options()[found.plan.placed[0].machine_id]
        took = option.times["pythia-1b"]
        days = days_and_ends(took.days, took.days_low or 0.0, took.days_high or 0.0)
        words = f"≈{days} a run, estimated: Pythia 1B was not measured on 1 × {where}"
        assert time.words == words
        assert time.command.startswith(command)
        whole = decided_text(found.loaded, found.plan, 400)
        assert f"  - {words}: {time.command}" in whole
        typed = shlex.split(time.command)[1:]
        assert build_parser(typed).parse_args(typed).model == "pythia-1b"
    first, second = every  # hours that are granted have no rate of a seller's
    assert re.fullmatch(
        r"[\w. ]+'s rate of \w+ 20\d\d for 1 × RTX PRO 6000 is \$\d+\.\d\d an hour: .*", first
    )
    assert " for 1 × MI300X is " in second


def test_the_first_line_says_which_runs_need_an_award(store_path: Path, tmp_path: Path) -> None:
    """Whatever is sought; hours that are sure need none."""
    hours = '[[allocations]]\nname = "National"\nkind = "national"\ngpu = "H100"\nodds = {odds}\n'
    text = ONE_RUN.format(model="pythia-410m", buys="false") + NO_RENT
    for odds, words in ((0.7, "the one run (only if awarded, odds 70 %) for "), (1, "run for ")):
        found = planned_of(store_path, tmp_path, text + hours.format(odds=odds))
        assert found.plan is not None
        assert words in plan_sentence(found.loaded, found.plan)


def test_a_card_has_the_name_that_it_is_sold_by(store_path: Path, tmp_path: Path) -> None:
    only = '[rentals]\ngpus = ["RTX PRO 6000"]\n'
    text = ONE_RUN.format(model="pythia-1b", buys="false") + only
    found = planned_of(store_path, tmp_path, text)
    assert "1 × RTX PRO 6000 at " in to_markdown(report_for(found).parts()[0])
    labels = {each.label for each in found.loaded.problem.rentals}
    assert labels and not any("Blackwell" in label for label in labels)


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


def test_a_narrow_table_keeps_the_month_of_prices_and_whole_names(
    store_path: Path, tmp_path: Path
) -> None:
    text = ONE_RUN.format(model="pythia-410m", buys="false") + '[rentals]\ngpus = ["H100"]\n'
    found = planned_of(store_path, tmp_path, text)
    assert found.plan is not None
    name = found.plan.rented[0].rental_id
    long = "a workstation of a maker, with a name that fills more than half of a line"
    rentals = tuple(
        replace(each, label=long) if each.rental_id == name else each
        for each in found.loaded.problem.rentals
    )
    loaded = replace(found.loaded, problem=replace(found.loaded.problem, rentals=rentals))
    (rental,) = (each for each in rentals if each.rental_id == name)
    wide, narrow = (what_to_do(loaded, found.plan, width) for width in (140, 80))
    assert f"{rental.priced_on.day} {rental.priced_on:%b %Y}" in wide
    lines = narrow.split("\n")
    assert max(map(len, lines)) <= 80
    assert "prices of" in lines[0] and lines[1].endswith(f"  {rental.priced_on:%b %Y}")
    assert " ".join(narrow.split()).count("…") == 0
    assert lines[2].split()[-1] == "line"
