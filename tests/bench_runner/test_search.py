"""The planner: each candidate is tried or left out with a reason; fast still finds the best."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_runner.records import journal
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings import least_step, paper_space, search
from tests.bench_runner.records_of_searches import tried

BATCH = 1024
MEASURED = Path(__file__).parents[2] / "docs" / "measurements" / "search.jsonl"


def situation(gpus: int = 1, **changes: object) -> least_step.Situation:
    known = least_step.Situation(
        gpu_count=gpus,
        batch_size=BATCH,
        parameters=1_000_000_000,
        half_precision=True,
        usable_memory_gib=80.0,
        host_memory_gib=1000.0,
    )
    return replace(known, **changes)  # type: ignore[arg-type]


class Machine:
    """A machine with simple laws: compute, memory, links. Each law keeps to what the planner
    takes for granted: offloading and recomputing never make a pass cheaper."""

    def __init__(
        self,
        *,
        gpus: int,
        memory: float,
        states: float,
        activation: float,
        half_size: float,
        compiled: float,
        link: float,
        update: float,
    ) -> None:
        self.gpus, self.memory, self.states = gpus, memory, states
        self.activation, self.half_size, self.compiled = activation, half_size, compiled
        self.link, self.update = link, update
        self.gpu_seconds = 0.0

    def run(self, settings: Settings) -> Measurement:
        states = self.states
        if settings.sharding in ("zero-1", "zero-2", "fsdp-shard-grad-op"):
            states *= 0.4 if self.gpus > 1 or settings.offloading else 1
        if settings.sharding in ("zero-3", "fsdp-full-shard"):
            states *= 0.2 if self.gpus > 1 or settings.offloading else 1
        activation = self.activation * (0.25 if settings.activation_checkpointing else 1)
        sizes = [
            size
            for size in paper_space.micro_batch_sizes(BATCH, self.gpus)
            if states + size * activation <= self.memory
        ]
        self.gpu_seconds += 1
        if not sizes:
            return tried(settings, self.gpus, status="infeasible", reason="out of memory")
        zero = (settings.sharding or "").startswith("zero")
        cost = {size: (1 + self.half_size / size) * 0.01 for size in sizes}
        burden = 1.0
        if settings.activation_checkpointing:
            burden *= 1.3
        if settings.offloading:
            burden *= 1.2
        if settings.sharding in ("zero-2", "zero-3", "fsdp-full-shard"):
            burden *= 1.05
        # The climb runs without compilation, as DeepSpeed always does.
        eager = {size: value * burden for size, value in cost.items()}
        size = sizes[-1]
        pass_s = size * eager[size] * (1.0 if zero else self.compiled)
        passes = paper_space.accumulation_steps(BATCH, self.gpus, size)
        exchange = self.link if self.gpus > 1 else 0.0
        update = self.update / (self.gpus if settings.sharding else 1)
        if settings.offloading:
            update = self.update * 3
        step = passes * pass_s + exchange + update
        return tried(
            replace(settings, micro_batch_size=size, gradient_accumulation_steps=passes),
            self.gpus,
            status="ok",
            step_s=step,
            training_days=step,
            pass_s=(pass_s,),
            sync_pass_s=(pass_s + exchange,),
            update_s=(update,),
            environment={
                "climb": {
                    "samples_per_s": {str(s): 1 / eager[s] for s in sizes},
                    "at_the_end": size == paper_space.micro_batch_sizes(BATCH, self.gpus)[-1],
                },
                "probes": [
                    {
                        "micro_batch_size": s,
                        "fits": True,
                        "peak_memory_gib": states + s * activation,
                    }
                    for s in sizes
                ],
            },
        )


def explore(machine: Machine, strategy: str) -> list[Measurement]:
    candidates = paper_space.space(machine.gpus)
    known = situation(
        machine.gpus, usable_memory_gib=machine.memory, parameters=None, host_memory_gib=None
    )
    done: list[Measurement] = []
    while (action := search.next_action(candidates, done, known, strategy)) is not None:
        if isinstance(action, search.LeaveOut):
            assert action.reason
            done.append(
                replace(tried(action.settings, machine.gpus), status="pruned", reason=action.reason)
            )
        else:
            done.append(machine.run(action.settings))
        assert len(done) <= len(candidates)
    return done


machines = st.builds(
    Machine,
    gpus=st.sampled_from([1, 2, 8]),
    memory=st.just(80.0),
    states=st.floats(1, 300),
    activation=st.floats(0.1, 60),
    half_size=st.floats(0.01, 4),
    compiled=st.floats(0.6, 0.95),
    link=st.floats(0, 2),
    update=st.floats(0.001, 1),
)


@settings(max_examples=100)
@given(machines)
def test_every_candidate_is_tried_or_left_out_once(machine: Machine) -> None:
    for strategy in search.STRATEGIES:
        done = explore(machine, strategy)
        named = [least_step.without_micro_batch(r.settings) for r in done if r.settings]
        assert sorted(map(repr, named)) == sorted(map(repr, paper_space.space(machine.gpus)))
        assert all(r.reason for r in done if r.status != "ok")


@settings(max_examples=150)
@given(machines)
def test_the_fast_answer_is_at_most_two_percent_slower(machine: Machine) -> None:
    fast = least_step.best_of(explore(machine, "fast"))
    best = least_step.best_of(explore(machine, "exhaustive"))
    assert (fast is None) == (best is None)
    if fast is not None and best is not None:
        assert fast.step_s is not None
        assert best.step_s is not None
        assert fast.step_s <= 1.02 * best.step_s


@pytest.mark.parametrize("gpus", [1, 2])
def test_on_what_real_gpus_measured_fast_is_as_good_for_a_sixth(gpus: int) -> None:
    records = [
        journal.from_json(json.loads(line)) for line in MEASURED.read_text().splitlines() if line
    ]
    measured = {
        least_step.without_micro_batch(record.settings): record
        for record in records
        if record.settings is not None
        and record.gpu_count == gpus
        and record.method != "optimal"
        and record.environment.get("search") == "exhaustive"
    }
    candidates = paper_space.space(gpus)
    assert set(measured) == set(candidates)
    any_record = next(iter(measured.values()))
    known = situation(gpus, batch_size=128 * gpus, parameters=70_426_624, usable_memory_gib=138.8)
    done: list[Measurement] = []
    gpu_s = 0.0
    while (action := search.next_action(candidates, done, known, "fast")) is not None:
        if isinstance(action, search.LeaveOut):
            done.append(replace(any_record, settings=action.settings, status="pruned"))
            continue
        record = measured[least_step.without_micro_batch(action.settings)]
        gpu_s += record.environment["gpu_s"]
        done.append(record)
    fast, best = least_step.best_of(done), least_step.best_of(list(measured.values()))
    assert fast is not None and fast.step_s is not None
    assert best is not None and best.step_s is not None
    assert fast.step_s <= 1.02 * best.step_s
    assert gpu_s <= sum(r.environment.get("gpu_s") or 0 for r in measured.values()) / 6


def test_what_cannot_fit_is_left_out_before_it_is_tried() -> None:
    action = search.next_action(
        (paper_space.settings_for(free_lunch=True),),
        [],
        situation(parameters=12_000_000_000),
        "fast",
    )
    assert isinstance(action, search.LeaveOut)
    assert action.reason.startswith("cannot fit")
    assert "80.0 GiB" in action.reason


def test_scarce_host_memory_leaves_offloading_out() -> None:
    action = search.next_action(
        (paper_space.settings_for(free_lunch=True, sharding="zero-1", offloading=True),),
        [],
        situation(host_memory_gib=8.0),
        "fast",
    )
    assert isinstance(action, search.LeaveOut)
    assert "host memory" in action.reason
