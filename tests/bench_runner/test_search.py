"""The space of settings, each training once; and a fast search that finds its best for a tenth."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_runner.arguments import find_recipe
from bench_runner.models.model_source import ModelSource
from bench_runner.recipes import Recipe, load_recipes
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings import (
    batch_and_sharding,
    configure,
    exact_settings,
    fastest_possible_step,
    obstacles,
    search,
)
from bench_runner.settings.exact_settings import Kernels
from bench_runner.settings.obstacles import parse_settings, settings_words
from tests.bench_runner.records_of_searches import tried

BATCH = 1024
MEASUREMENTS = Path(__file__).parents[2] / "docs" / "measurements"
DECODER, ENCODER, IMAGES = (find_recipe(name) for name in ("pythia-160m", "roberta", "vit"))
CONVNET, SSM = find_recipe("convnext-large-1k"), find_recipe("mamba")
T5 = replace(ENCODER, model=ModelSource(config_class="T5Config", arguments={}))
EVERY = "naive,free-lunch,paper,all"


# The space


@pytest.mark.parametrize(("gpus", "count"), [(1, 12), (2, 22), (8, 22)])
def test_as_many_as_the_paper_counts(gpus: int, count: int) -> None:
    assert len(batch_and_sharding.space(gpus)) == count


@given(st.integers(1, 16), st.integers(1, 4096))
def test_every_micro_batch_makes_up_the_whole_batch(gpus: int, share: int) -> None:
    batch = gpus * share
    for size in batch_and_sharding.micro_batch_sizes(batch, gpus):
        assert gpus * size * batch_and_sharding.accumulation_steps(batch, gpus, size) == batch
    if gpus > 1:
        with pytest.raises(ValueError, match="--gpus"):
            batch_and_sharding.micro_batch_sizes(batch + 1, gpus)


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("recipe", [DECODER, ENCODER, T5, IMAGES, CONVNET, SSM])
def test_the_whole_space_holds_the_papers_and_each_training_once(recipe, gpus: int) -> None:
    whole = exact_settings.whole_space(recipe, gpus, flash=False)
    assert set(batch_and_sharding.space(gpus)) <= set(whole) or not recipe.support.compile
    assert len(set(map(exact_settings.explicit, whole))) == len(whole)
    assert len({batch_and_sharding.label(each) for each in whole}) == len(whole)
    # What shards or offloads has weights of its own.
    halves = [k for k in exact_settings.choices(recipe, flash=False) if k.weights == "half"]
    combinations = exact_settings.combinations(recipe, gpus)
    unsharded = [each for each in combinations if each.sharding is None]
    others = len(exact_settings.choices(recipe, flash=False)) - len(halves)
    assert len(whole) == others * len(combinations) + len(halves) * len(unsharded)
    possible = obstacles.every_setting(recipe)
    assert all(obstacles.why_not(recipe, each, possible) is None for each in whole)
    # However it is named: of a recipe that does not compile, free lunch is not compiled.
    every = exact_settings.settings_of_methods(EVERY, recipe, gpus, flash=False)
    trained = {
        replace(
            each,
            compilation=configure.compilation(recipe, each),
            attention=configure.attention(recipe, each, flash=None),
        )
        for each in every
    }
    assert len(trained) == len(every) == len(whole) + 1
    assert exact_settings.papers_labels(recipe, gpus) <= set(map(batch_and_sharding.label, whole))


@pytest.mark.parametrize("gpus", [1, 2])
def test_what_cannot_recompute_is_never_asked_to(gpus: int) -> None:
    keeps = replace(DECODER, support=replace(DECODER.support, activation_checkpointing=False))
    for methods in (*EVERY.split(","), EVERY):
        every = exact_settings.settings_of_methods(methods, keeps, gpus, flash=False)
        others = exact_settings.settings_of_methods(methods, DECODER, gpus, flash=False)
        assert every == tuple(each for each in others if not each.activation_checkpointing)
    with pytest.raises(ValueError, match="naive, free-lunch, paper, all"):
        exact_settings.settings_of_methods("best", keeps, gpus, flash=False)


def test_what_balances_experts_is_trained_with_the_library_s_own_loss() -> None:
    """Which is that of all tokens fed, so that neither fusing nor trimming is exact."""
    arguments = {**DECODER.model.arguments, "output_router_logits": True}
    routed = replace(DECODER, model=replace(DECODER.model, arguments=arguments))
    assert {(k.loss, k.inputs) for k in exact_settings.choices(routed, flash=False)} == {
        ("plain", "full")
    }
    assert not exact_settings.fuses_loss(routed) and exact_settings.fuses_loss(DECODER)


def without_checkpointing(recipe: Recipe) -> Recipe:
    return replace(recipe, support=replace(recipe.support, activation_checkpointing=False))


@pytest.mark.parametrize(
    ("recipe", "words", "possible"),
    [
        (DECODER, "checkpointing", True),
        (without_checkpointing(DECODER), "regional,checkpointing", False),
        (T5, "fused", False),
        (SSM, "eager,half-weights", False),
        (DECODER, "zero-1,offloading,half-weights", False),
    ],
)
def test_what_a_model_is_not_trained_with_is_said(recipe, words: str, possible: bool) -> None:
    said = obstacles.why_not(recipe, parse_settings(words), obstacles.every_setting(recipe))
    assert (said is None) is possible


@pytest.mark.parametrize("flash", [False, True])
@pytest.mark.parametrize("recipe", [DECODER, ENCODER, IMAGES, CONVNET])
def test_a_trial_by_name_has_the_key_of_the_searchs(recipe, flash: bool) -> None:
    """None of the space is said in another way, and the words for what is usual add nothing."""
    for searched in exact_settings.whole_space(recipe, 1, flash=flash):
        named = parse_settings(settings_words(exact_settings.explicit(searched)))
        assert exact_settings.as_searched(recipe, named) == searched
    # PyTorch's own, whether a FlashAttention is installed or not.
    named = parse_settings(f"whole,{recipe.support.attention or 'sdpa'}")
    assert exact_settings.as_searched(recipe, named) == parse_settings("free-lunch")


@pytest.mark.parametrize(
    ("capability", "packages", "found"),
    [
        (None, {"flash_attn"}, False),
        ("8.0", {"flash_attn"}, True),
        ("8.0", {"flash_attn_interface"}, False),
        ("9.0", {"flash_attn_interface"}, True),
        ("10.0", {"flash_attn_interface"}, False),
    ],
)
def test_flash_attention_goes_by_what_the_machine_has(
    capability: str | None, packages: set[str], found: bool
) -> None:
    assert obstacles.has_flash_attention(capability, packages) is found
    training = DECODER.training
    reason = obstacles.why_not_here(parse_settings("flash"), training, packages, capability)
    assert (reason is None) is found


# The search


def situation(gpus: int = 1, **changes: Any) -> fastest_possible_step.Situation:
    known = fastest_possible_step.Situation(
        gpu_count=gpus,
        batch_size=BATCH,
        parameters=None,
        half_precision=True,
        usable_memory_gib=80.0,
        host_memory_gib=None,
    )
    return replace(known, **changes)


@dataclass
class Machine:
    """Kernels and combinations with their own factors; some of them save memory too. Offloading and
    recomputing never make a pass cheaper, as the planner takes for granted."""

    gpus: int
    compiled: dict[str, float]
    eager: dict[str, float]
    fused: float = 0.8
    trimmed: float = 0.95
    burdens: tuple[float, float, float] = (1.3, 1.2, 1.05)
    states: float = 5.0
    activation: float = 2.0
    logits: float = 1.0
    half_size: float = 0.3
    """The micro-batch at which half of a pass is what it takes whatever its size."""
    update: float = 0.02
    broken: str | None = None
    half: float = 1.0
    trials: int = 0

    def run(self, settings: Settings) -> Measurement:
        self.trials += 1
        said = exact_settings.kernels_of(settings)
        base = tried(settings, self.gpus, reason="the compiler broke")
        if self.broken in (said.compilation, said.loss):
            return base
        shared = settings.sharding and (self.gpus > 1 or settings.offloading)
        states = self.states * (0.4 if shared else 1.0)
        activation = self.activation * (0.25 if settings.activation_checkpointing else 1.0)
        activation += self.logits * (0.05 if said.loss == "fused" else 1.0)
        all_sizes = batch_and_sharding.micro_batch_sizes(BATCH, self.gpus)
        sizes = [size for size in all_sizes if states + size * activation <= 80]
        if not sizes:
            return replace(base, status="infeasible", reason="out of memory")
        checkpointed, offloaded, sharded = self.burdens
        factor = self.eager[said.compilation] if said.attention == "eager" else 1.0
        factor *= self.fused if said.loss == "fused" else 1.0
        factor *= self.trimmed if said.inputs == "trimmed" else 1.0
        factor *= self.half if said.weights == "half" else 1.0
        factor *= checkpointed if settings.activation_checkpointing else 1.0
        factor *= offloaded if settings.offloading else 1.0
        factor *= sharded if settings.sharding else 1.0
        eager_s = {size: 0.01 * (size + self.half_size) * factor for size in sizes}
        size = sizes[-1]
        pass_s = eager_s[size] * self.compiled[said.compilation]
        passes = batch_and_sharding.accumulation_steps(BATCH, self.gpus, size)
        update = self.update / (self.gpus if settings.sharding else 1)
        step_s = passes * pass_s + (self.update * 3 if settings.offloading else update)
        probes = [
            {"micro_batch_size": s, "fits": True, "peak_memory_gib": states + s * activation}
            for s in sizes
        ]
        rates = {str(s): s / eager_s[s] for s in sizes}
        climb = {"at_the_end": size == all_sizes[-1], "samples_per_s": rates}
        return replace(
            base,
            settings=replace(settings, micro_batch_size=size, gradient_accumulation_steps=passes),
            status="ok",
            reason=None,
            step_s=step_s,
            training_days=step_s,
            pass_s=(pass_s,),
            update_s=(update,),
            environment={"climb": climb, "probes": probes},
        )


def explore(
    machine: Machine, candidates: tuple[Settings, ...], strategy: search.Strategy = "fast"
) -> list[Measurement]:
    done: list[Measurement] = []
    known = situation(machine.gpus)
    while (a := search.next_action(candidates, done, known, strategy)) is not None:
        before = [fastest_possible_step.without_micro_batch(r.settings) for r in done if r.settings]
        assert a.settings not in before and a.reason
        if isinstance(a, search.LeaveOut):
            left_out = tried(a.settings, machine.gpus, status="pruned", reason=a.reason)
            done.append(left_out)
        else:
            done.append(machine.run(a.settings))
    return done


def best_s(records: list[Measurement]) -> float | None:
    best = fastest_possible_step.best_of(records)
    return None if best is None else best.step_s


def as_good(machine: Machine, candidates: tuple[Settings, ...]) -> bool:
    """Whether the fast search ends at most 2 % behind the fastest."""
    fast = best_s(explore(machine, candidates))
    best = best_s([replace(machine, trials=0).run(each) for each in candidates])
    return (fast is None and best is None) or bool(fast and best and fast <= 1.02 * best)


factors = st.floats(0.8, 1.25)
machines = st.builds(
    Machine,
    st.sampled_from([1, 2, 8]),
    compiled=st.fixed_dictionaries(
        {"none": st.just(1.0), "whole": st.floats(0.6, 0.98), "regional": st.floats(0.6, 0.98)}
    ),
    eager=st.fixed_dictionaries({"none": st.just(1.3), "whole": factors, "regional": factors}),
    fused=st.floats(0.7, 1.05),
    trimmed=st.floats(0.9, 1.05),
    burdens=st.tuples(st.floats(1.25, 1.35), st.floats(1.1, 1.4), st.floats(1.0, 1.1)),
    states=st.sampled_from([5.0, 60.0, 150.0]),
    logits=st.floats(0.1, 4.0),
    half=st.floats(0.9, 1.05),
)
starved = st.builds(
    Machine,
    st.sampled_from([1, 2, 8]),
    compiled=st.fixed_dictionaries({"none": st.just(1.0), "whole": st.floats(0.6, 0.95)}),
    eager=st.just({"none": 1.0, "whole": 1.0}),
    states=st.floats(1, 300),
    activation=st.floats(0.1, 60),
    logits=st.just(0.0),
    half_size=st.floats(0.01, 4),
    update=st.floats(0.001, 1),
)


@settings(max_examples=8, deadline=None)
@given(machines)
def test_fast_finds_the_best_of_all_for_a_tenth_of_the_trials(machine: Machine) -> None:
    candidates = exact_settings.whole_space(DECODER, machine.gpus, flash=False)
    assert as_good(machine, candidates)
    assert machine.trials <= len(candidates) / 10


@settings(max_examples=40)
@given(starved)
def test_of_the_papers_space_each_is_tried_or_left_out_and_the_best_is_found(
    machine: Machine,
) -> None:
    """Also where memory is so short that what saves it pays."""
    space = batch_and_sharding.space(machine.gpus)
    for strategy in search.STRATEGIES:
        done = explore(replace(machine), space, strategy)
        named = [fastest_possible_step.without_micro_batch(r.settings) for r in done if r.settings]
        assert sorted(map(repr, named)) == sorted(map(repr, space))
    assert as_good(machine, space)


def replay(
    candidates: tuple[Settings, ...],
    timed: dict[Settings, Measurement],
    known: fastest_possible_step.Situation,
) -> tuple[float, float]:
    """The fast search where each trial takes what it took on a GPU: its answer over the fastest of
    what was timed, and its share of the seconds that all candidates would take at their mean."""
    done: list[Measurement] = []
    while (a := search.next_action(candidates, done, known, "fast")) is not None:
        if isinstance(a, search.LeaveOut):
            done.append(tried(a.settings, known.gpu_count, status="pruned"))
        else:
            done.append(timed[a.settings])
    ran = [record for record in done if record.status == "ok"]
    best, fastest = best_s(ran), best_s(list(timed.values()))
    assert best is not None and fastest is not None
    seconds = [record.environment["trial_wall_s"] for record in timed.values()]
    spent = sum(record.environment["trial_wall_s"] for record in ran)
    return best / fastest, spent / (len(candidates) * mean(seconds))


def measured(file: str) -> list[Measurement]:
    lines = (MEASUREMENTS / file).read_text().splitlines()
    return [journal.from_json(json.loads(line)) for line in lines if line]


@pytest.mark.parametrize("gpus", [1, 2])
def test_on_what_real_gpus_measured_fast_is_as_good_for_a_sixth(gpus: int) -> None:
    timed = {
        fastest_possible_step.without_micro_batch(record.settings): record
        for record in measured("search.jsonl")
        if record.settings is not None
        and (record.gpu_count, record.method != "optimal") == (gpus, True)
        and record.environment.get("search") == "exhaustive"
    }
    space = batch_and_sharding.space(gpus)
    assert set(timed) == set(space)
    known = situation(gpus, batch_size=128 * gpus, parameters=70_426_624, usable_memory_gib=138.8)
    over_best, share = replay(space, timed, known)
    assert over_best <= 1.02 and share <= 1 / 6


@pytest.mark.parametrize(
    ("name", "file", "count", "parameters"),
    [
        ("gpt-wide-short", "h100-decoder-space.jsonl", 192, 89_000_000),
        ("vit-22m-short", "h100-image-space.jsonl", 72, 22_000_000),
    ],
)
def test_where_an_h100_measured_every_setting_it_finds_the_best_for_a_tenth(
    name: str, file: str, count: int, parameters: int
) -> None:
    recipe = find_recipe(f"tests/benchmarks/recipes/{name}.toml")
    training = recipe.training
    timed: dict[Settings, Measurement] = {}
    for record in measured(file):  # a search's own trials come first, some were taken again
        of_batch = record.settings and record.settings.micro_batch_size == training.batch_size
        if record.settings is not None and of_batch and record.status == "ok":
            alone = fastest_possible_step.without_micro_batch(record.settings)
            timed.setdefault(exact_settings.canonical(alone), record)
    candidates = exact_settings.whole_space(recipe, 1, flash=False)
    assert len(candidates) == count and set(timed) == set(candidates)
    known = situation(
        batch_size=training.batch_size,
        parameters=parameters,
        half_precision=training.precision in ("fp16", "bf16"),
        usable_memory_gib=78.6,
    )
    over_best, share = replay(candidates, timed, known)
    assert over_best <= 1.02 and share < 0.1


EVEN = dict.fromkeys(("none", "whole", "regional"), 1.2)


@pytest.mark.parametrize("broken", ["regional", "fused"])
def test_kernels_that_break_are_given_up_and_others_found(broken: str) -> None:
    compiled = {"none": 1.0, "whole": 0.8, "regional": 0.7}
    machine = Machine(1, compiled=compiled, eager=EVEN, broken=broken)
    candidates = exact_settings.whole_space(DECODER, 1, flash=False)
    best = fastest_possible_step.best_of(explore(machine, candidates))
    assert best is not None and best.settings is not None
    assert exact_settings.kernels_of(best.settings) == Kernels(
        compilation="whole" if broken == "regional" else "regional",
        loss="plain" if broken == "fused" else "fused",
        inputs="trimmed",
        attention=None,
    )
    assert machine.trials <= len(candidates) / 10


@pytest.mark.parametrize("gpus", [1, 2])
def test_one_broken_trial_does_not_leave_out_what_promises_most(gpus: int) -> None:
    """Without sharding it is fastest, and its first trial breaks: a kill, a compiler's fault."""
    compiled = {"none": 1.0, "whole": 0.72, "regional": 0.7}
    machine = Machine(gpus, compiled=compiled, eager=EVEN, burdens=(1.3, 1.2, 1.15))
    candidates = exact_settings.whole_space(IMAGES, gpus, flash=False)
    (first, *_), run = candidates, machine.run
    assert first.sharding is None and not first.activation_checkpointing

    def breaks(settings: Settings) -> Measurement:
        return run(settings) if settings != first else tried(settings, gpus)

    machine.run = breaks  # type: ignore[method-assign]
    found = best_s(explore(machine, candidates))
    assert machine.trials <= len(candidates) / 4
    best = best_s([breaks(each) for each in candidates])
    assert found is not None and best is not None and found <= 1.02 * best


def test_what_cannot_fit_in_any_way_is_not_tried_with_every_kernel() -> None:
    machine = Machine(1, compiled=EVEN, eager=EVEN, states=900.0)
    done = explore(machine, exact_settings.whole_space(DECODER, 1, flash=False))
    assert {record.status for record in done} == {"infeasible"}
    assert machine.trials == len(exact_settings.combinations(DECODER, 1))


@pytest.mark.parametrize(
    ("sharding", "known", "said"),
    [
        (None, situation(parameters=12_000_000_000), "of 80.0 GiB"),
        ("zero-1", situation(parameters=10**9, host_memory_gib=8.0), "host memory"),
    ],
)
def test_what_cannot_fit_is_left_out_before_it_is_tried(
    sharding: Any, known: fastest_possible_step.Situation, said: str
) -> None:
    only = batch_and_sharding.settings_for(
        free_lunch=True, sharding=sharding, offloading=sharding is not None
    )
    action = search.next_action([only], [], known, "fast")
    assert isinstance(action, search.LeaveOut)
    assert action.reason.startswith("cannot fit") and said in action.reason


def test_the_estimate_counts_kernels_too() -> None:
    whole = exact_settings.whole_space(DECODER, 1, flash=False)
    assert search.expected_trials(batch_and_sharding.space(1), "fast") == 2
    # The paper's 12 combinations and ZeRO-1 without offloading, kept or recomputed, x 24 kernels;
    # the 2 that do not shard with half-precision weights too
    assert search.expected_trials(whole, "exhaustive") == (12 + 2) * 24 + 2 * 24
    least = 2 + batch_and_sharding.KERNEL_TRIALS["decoder"][0]
    assert least <= search.expected_trials(whole, "fast") <= 28


@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("gpu_count", [1, 2, 8])
def test_what_is_said_before_a_benchmark_is_what_it_counts_itself(
    gpu_count: int, compiles: bool
) -> None:
    for recipe in load_recipes():
        compiled = recipe.support.compile and compiles
        plain = replace(recipe, support=replace(recipe.support, compile=compiled))
        chosen = exact_settings.settings_of_methods("all", plain, gpu_count, flash=False)
        told = batch_and_sharding.fast_search_minutes(
            recipe.family, gpu_count, compiles=compiled, days=1, training_steps=1, settings=None
        )
        # By its family alone: a ViT in half precision has more to try than one in FP32.
        counted = batch_and_sharding.estimated_minutes(search.expected_trials(chosen, "fast"))
        two_more = batch_and_sharding.estimated_minutes(2.01)
        assert told == pytest.approx(counted, abs=two_more), recipe.recipe_id
