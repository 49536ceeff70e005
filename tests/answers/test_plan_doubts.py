"""What a plan says of the times and hours that it rests on."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from advisor.answers.plan.plan_doubts import plan_doubts
from advisor.answers.plan.plan_text import decided_text
from advisor.answers.wording import days_and_ends
from advisor.cli.command_parser import build_parser
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.sensitivity.solved_amounts import Finding, Solved
from advisor.store import Store
from tests.planning.forms_for_tests import TODAY, grant_head, read

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


LIMITED = """[grant]
start = 2027-04-01
years = 3
funder = "nsf"
[budget]
total = "$90,000"
[[experiments]]
model = "pythia-1b"
runs = 2
each_year = true
[institution]
rules = "us-equipment-10000"
overhead_rate = 0.55
[running]
longest_run_days = {days}
"""


def test_first_is_whether_the_funder_pays_and_what_may_exceed_the_limit_says_so(
    store_path: Path, tmp_path: Path
) -> None:
    """Whole answers begin as short ones do, with the range of the price among what is said."""
    for days in (90, 72):
        found = planned_of(store_path, tmp_path, LIMITED.format(days=days))
        assert found.plan is not None and found.plan.purchases
        doubts = plan_doubts(found, "advisor plan", quick=True)
        assert [each.about for each in doubts[:2]] == ["funder", "price"]
        assert "not eligible" in doubts[0].words and "if ordered today" in doubts[1].words
        (time,) = (each for each in doubts if each.about == "time")
        placed = found.plan.placed[0]
        took = found.loaded.problem.options()[placed.machine_id].times["pythia-1b"]
        over = (took.days_high or took.days) > days
        assert over is (days == 72)
        assert ("over the limit of 72 days, and then the plan changes" in time.words) is over
        whole = decided_text(found.loaded, found.plan, 9999)
        told = whole.partition("Before you ask for it:\n")[2].splitlines()
        for each, doubt in zip(told, doubts, strict=False):
            if doubt.about in ("funder", "price", "time"):
                assert each.startswith(f"  - {doubt.words}")


def test_the_longest_work_has_its_interval_where_it_is_rented_too(
    store_path: Path, tmp_path: Path
) -> None:
    """And is measured where it runs: on the cluster, on the rented GPU, or looked up where no
    name for it is known."""
    base = ONE_RUN.format(model="pythia-1b", buys="false")
    hours = '[[allocations]]\nname = "Campus"\nkind = "campus"\ngpu = "A100 80GB PCIe"\n'
    hours += "gpu_hours_a_year = 9000\n"
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
    assert re.match(
        r"1 × RTX PRO 6000 costs \$\d+\.\d\d an hour at [\w. ]+ \(\w+ 20\d\d\), ", first
    )
    assert second.startswith("1 × MI300X costs ")


CAMPUS = """
[[allocations]]
name = "Campus"
kind = "campus"
gpu = "A100"
gpu_hours_a_year = 20000
usd_per_gpu_hour = 0
odds = 0.5
"""
OWNED = """
[[owned]]
gpu = "RTX 3090"
gpu_count = 4
"""


def said_of(store_path: Path, folder: Path, text: str) -> dict[str, str]:
    doubts = plan_doubts(planned_of(store_path, folder, text), "advisor plan", quick=True)
    return {each.about: each.words for each in doubts}


def test_hours_that_are_not_awarded_leave_no_plan(store_path: Path, tmp_path: Path) -> None:
    text = ONE_RUN.format(model="pythia-410m", buys="false") + NO_RENT
    said = said_of(store_path, tmp_path, text + CAMPUS)
    assert said["instead"].startswith("Campus is not awarded: there is no plan")


def test_the_limit_of_a_run_is_said_where_it_changes_the_plan(
    store_path: Path, tmp_path: Path
) -> None:
    """A machine that is bought, and not what costs nothing already."""
    text = ONE_RUN.format(model="pythia-1b", buys="true")
    said = said_of(store_path, tmp_path, text + NO_RENT)
    assert re.search("limit of 90 days .* less; longest_run_days under", said["limit"])
    loose = "[running]\nlongest_run_days = 400\n"
    assert "limit" not in said_of(store_path, tmp_path, text + NO_RENT + loose)
    free = ONE_RUN.format(model="pythia-410m", buys="true") + OWNED
    assert "limit" not in said_of(store_path, tmp_path, free)


def test_the_price_of_what_is_bought_is_the_first_that_changes_the_plan(
    store_path: Path, tmp_path: Path
) -> None:
    """However near a rent is that the plan does not pay."""
    text = ONE_RUN.format(model="pythia-1b", buys="true") + NO_RENT
    found = planned_of(store_path, tmp_path, text)
    assert found.plan is not None and found.explanation is not None
    (machine,) = found.plan.purchases
    (line, *_) = found.loaded.problem.options()[machine.machine_id].lines  # type: ignore[union-attr]

    def finding(name: str, row: str, weight: float) -> Finding:
        change = {name: (row, "105")}
        now = Solved(value=Decimal(105), unit="money", change=change, reads="threshold")
        return Finding(words=(f"{name} of {row}: at ", now, " or more"), weight=weight)

    near, own = finding("rent_price", "another", 0.01), finding("price", line.quote_id, 0.05)
    explained = replace(found.explanation, thresholds=(near, own))
    for thresholds, words in (
        (
            (near, own),
            f"5 % dearer, and another plan is cheapest: price of {line.quote_id} at $105",
        ),
        ((near,), "the decision changes with rent_price of another: at $105"),
    ):
        told = replace(found, explanation=replace(explained, thresholds=thresholds))
        doubts = plan_doubts(told, "advisor plan", quick=False)
        (change,) = (each.words for each in doubts if each.about == "change")
        assert change == f"{words} or more"
