"""How well a training timed on one GPU is told on another: python -m tools.fit.own_training_pairs

First the profiles of kernels of an H200 whose training, exported by this
program, was timed on an H100 too. No other profile was published for two GPUs. So each step that
was timed on one GPU is divided into kinds of work as the physics says, is moved by
`advisor.prediction.own_training` as a measured one is, and is held against the step that the same
source timed on the other GPU with the same model and settings.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from statistics import median

import numpy as np

from advisor.prediction.observed_times import Observation
from advisor.prediction.own_records import columns_of
from advisor.prediction.own_training import OwnTraining, moved
from advisor.prediction.physics.chip import gpu_type
from advisor.prediction.physics.factors import TERMS, Rows, row_factors
from advisor.prediction.physics.step_terms import work_terms
from advisor.prediction.shipped_predictions import shipped_fit
from bench_runner.own_command.own_run import OwnRun
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement
from price_catalog.load import load_catalog
from price_catalog.model import Gpu
from tools.fit.shipped_evidence import load_evidence

ROOT = Path(__file__).parents[2]
PROFILED = ROOT / "docs" / "measurements" / "h200-own-trainings.jsonl"
PUBLISHED = sorted((ROOT / "bench_runner" / "published").glob("*.jsonl"))
KIND = {
    "attention": "attention",
    "compute": "products",
    "operands": "products",
    "convolution": "products",
    "experts": "products",
    "launches": "host",
    "waits": "host",
}
"""Of each term of the physics; what is left is bound by memory."""


def seconds_by_kind(o: Observation) -> dict[str, float]:
    """The measured step, divided as the physics divides it."""
    assert o.step_s is not None
    naive = o.method == "naive"
    columns = columns_of([o])
    lean = o.option is not None and o.option.lean
    terms = work_terms(columns, free_lunch=not naive, lean=lean)
    flags = np.full(1, True)
    rows = Rows(columns, flags & naive, flags)
    factors = row_factors(np.exp(np.array(shipped_fit().factors)), rows)[0]
    precision = o.workload.precision
    if precision == "fp32" and not naive:
        precision = "tf32"  # type: ignore[assignment]
    found: dict[str, float] = defaultdict(float)
    for term, seconds in terms.items():
        kind, factor = KIND.get(term, "memory"), factors[TERMS.index(term)]
        found[precision if kind == "products" else kind] += float(seconds[0]) * float(factor)
    scale = o.step_s / sum(found.values())
    return {kind: s * scale for kind, s in found.items() if s > 0}


def timed_on(o: Observation) -> OwnTraining:
    """As `advisor bench -- COMMAND` would have kept it."""
    assert o.step_s is not None
    run = OwnRun(
        gpu=o.chip.name,
        gpu_count=1,
        step_s=o.step_s,
        step_s_low=o.step_s,
        step_s_high=o.step_s,
        settled=True,
        steps_timed=10,
        pauses=0,
        seconds=seconds_by_kind(o),
        kernels=(),
        loads_serially=False,
        memory_gib=0.0,
        allocated_gib=0.0,
        state_gib=0.0,
        sharded=False,
        parameters=o.workload.parameters,
        parameter_bytes=4 * o.workload.parameters,
        joules=None,
        max_steps=None,
        torch="-",
    )
    return OwnTraining(recipe_id="x", name="x", steps=1, measured_on=date(2026, 1, 1), run=run)


def pairs() -> list[tuple[str, str, float, bool]]:
    """From which GPU to which, how many times too long the step is told, and whether the interval
    holds what was measured."""
    gpus: Mapping[str, Gpu] = {gpu.gpu_id: gpu for gpu in load_catalog().gpus}
    costs = shipped_fit().costs
    alike: dict[object, dict[str, Observation]] = defaultdict(dict)
    for o in load_evidence():
        if o.count == 1 and o.step_s and (o.option is not None or o.method == "naive"):
            ours = o.harness == "reference"  # one software, whatever the machine
            who = o.harness if ours else o.source_id
            key = (who, o.workload.workload_id, o.workload.precision, o.method, o.option)
            alike[key].setdefault(o.chip.gpu_id, o)
    found = []
    for timed in alike.values():
        for here_id, here in timed.items():
            for there_id, there in timed.items():
                if gpu_type(here.chip) == gpu_type(there.chip):
                    continue
                told = moved(timed_on(here), gpus[here_id], gpus[there_id], 1, costs)
                if told.step_s is None or there.step_s is None:
                    continue
                samples = there.workload.batch_size / here.workload.batch_size
                ratio = told.step_s * samples / there.step_s
                inside = 1 / (told.high_s / told.step_s) <= ratio <= told.high_s / told.step_s
                found.append((gpu_type(here.chip), gpu_type(there.chip), ratio, inside))
    return found


def profiled_pairs() -> list[tuple[str, float, float, bool]]:
    """Of each exported training that `advisor bench -- COMMAND` profiled on an H200: its name, its
    step there over that of its record, its step told of the H100 over that of its record, and
    whether the interval holds that one."""
    lines = [*PROFILED.open(encoding="utf-8")]
    published = {r.measurement_id: r for file in PUBLISHED for r in journal.read(file)}
    gpus = {gpu.gpu_id: gpu for gpu in load_catalog().gpus}
    here, there, costs = gpus["h200-sxm-141gb"], gpus["h100-sxm5-80gb"], shipped_fit().costs
    found = []
    for row in map(json.loads, lines):
        if "h100" not in row:
            continue
        run = OwnRun(**row["run"])
        own = OwnTraining(recipe_id="x", name="x", steps=1, measured_on=date(2026, 11, 28), run=run)
        told = moved(own, here, there, 1, costs)
        assert told.step_s is not None
        same, other = (
            _step_s(published[row[gpu]], row["accumulation"]) for gpu in ("h200", "h100")
        )
        inside = told.low_s <= other <= told.high_s
        found.append((row["name"], run.step_s / same, told.step_s / other, inside))
    return found


def _step_s(record: Measurement, accumulation: int) -> float:
    """Of a record, with fewer passes a step than it had."""
    last = median(record.sync_pass_s)
    between = median(record.pass_s) if record.pass_s else last  # nothing is exchanged by one GPU
    return (accumulation - 1) * between + last + median(record.update_s)


def main() -> None:
    """Print error and coverage of the profiles, and of each pair of GPUs with ten or more."""
    for name, same, other, inside in (profiled := profiled_pairs()):
        print(f"{name:40} H200 {same:5.2f}  H100 told {other:5.2f}  inside {inside}")
    off = median(abs(math.log(other)) for _, _, other, _ in profiled)
    print(f"{len(profiled)} profiles: off {off:.1%}, {sum(p[3] for p in profiled)} inside")
    rows = pairs()
    by_pair: dict[tuple[str, str], list[tuple[float, bool]]] = defaultdict(list)
    for here, there, ratio, inside in rows:
        by_pair[here, there].append((ratio, inside))
        by_pair["all", "others"].append((ratio, inside))
    for (here, there), several in sorted(by_pair.items(), key=lambda item: -len(item[1])):
        if len(several) < 10:
            continue
        off = median(abs(math.log(ratio)) for ratio, _ in several)
        bias = median(ratio for ratio, _ in several)
        held = sum(inside for _, inside in several) / len(several)
        figures = f"{len(several):5}  off {off:6.1%}  bias {bias:5.2f}  inside {held:4.0%}"
        print(f"{here:24} to {there:24} {figures}")


if __name__ == "__main__":
    main()
