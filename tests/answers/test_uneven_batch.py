"""Three GPUs do not share Pythia's batch of 1,024: wherever they rank, it is said, and what is
typed to measure them works."""

from __future__ import annotations

import json
import shlex
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from advisor.answers.build.build_sections import measure_commands, section_lines
from advisor.answers.build.one_build import OneBuild, one_build
from advisor.answers.shared_batch import uneven_notes
from advisor.cli.main import main
from advisor.costs.tco import CostTerms
from advisor.planning.report.phrases import _uneven
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.rank import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from bench_runner.settings.space import micro_batch_sizes

SAID = "3 GPUs do not share a batch of 1,024 evenly: the time is with one of 1,008"
ASKED = ("--model", "pythia-1b", "--budget", "30k", "--gpus", "A6000")


def page_of_three(store: Store) -> OneBuild:
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
        candidates = make_candidates(
            reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound")
        )
    ranking = rank(candidates, Question())
    index = next(i for i in ranking.order if candidates.builds[i].gpu_count == 3)
    return one_build(
        ranking,
        index,
        terms=CostTerms(),
        prices="latest",
        rentals=(),
        measured_w=None,
        supply=None,
        quotes=snapshot.quotes,
        today=date.today(),
    )


def test_the_settings_of_every_row_make_up_its_batch(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rank", *ASKED, "--format", "json", "--store", str(store_path)]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["ranked"]
    batches = {row["gpu_count"]: row["batch_size"] for row in rows}
    assert batches[3] == 1008
    assert {batches[count] for count in (1, 2, 4) if count in batches} == {1024}
    for row in rows:
        micro = row["settings"]["micro_batch_size"]
        assert micro in micro_batch_sizes(row["batch_size"], row["gpu_count"])


@pytest.mark.parametrize("further", [(), ("--details",)])
def test_the_answer_says_so_where_such_a_machine_is_shown(
    store_path: Path, capsys: pytest.CaptureFixture[str], further: tuple[str, ...]
) -> None:
    assert main(["rank", *ASKED, *further, "--store", str(store_path)]) == 0
    assert SAID in " ".join(capsys.readouterr().out.split())


def test_the_answer_is_silent_where_none_is(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--model", "pythia-1b", "--budget", "400k", "--gpus", "H200")
    assert main(["rank", *words, "--store", str(store_path)]) == 0
    assert "evenly" not in capsys.readouterr().out


def test_the_page_of_such_a_build_says_so_and_measures_what_is_kept(store_path: Path) -> None:
    one = page_of_three(Store(store_path))
    assert SAID in [line.text for line in section_lines(one, "time")]
    first, here, *elsewhere = measure_commands(one).values()
    words = shlex.split(first)
    batch = int(words[words.index("--batch") + 1])
    assert micro_batch_sizes(batch, 3)[-1] >= 16
    kept = words[words.index("--keep") + 1]
    assert here.startswith(f"advisor bench --model {kept} --gpus 3")
    assert all(f"--model {kept}" in each for each in elsewhere if "advisor bench" in each)


def test_a_report_says_so_of_runs_on_such_a_machine(store_path: Path) -> None:
    with Store(store_path).reading() as reader:
        model = take_snapshot(reader).model("pythia-1b")
    placed = SimpleNamespace(experiment_id="a", machine_id="three")
    problem = SimpleNamespace(
        options=lambda: {"three": SimpleNamespace(gpu_count=3)},
        experiments=[SimpleNamespace(experiment_id="a", model="pythia-1b")],
    )
    loaded: Any = SimpleNamespace(problem=problem, models={"pythia-1b": model})
    plan: Any = SimpleNamespace(placed=[placed])
    assert _uneven(loaded, plan) == [f"{model.name}: {SAID}"]


def test_each_number_of_gpus_is_told_once(store_path: Path) -> None:
    one = page_of_three(Store(store_path))
    assert uneven_notes(one.ranking.candidates.model, [one.build, one.build]) == [SAID]
