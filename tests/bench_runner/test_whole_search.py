"""The whole space: every exact setting once, and a fast search that finds its best for a tenth."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_runner.arguments import find_recipe
from bench_runner.models.model_source import ModelSource
from bench_runner.recipes import load_recipes
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings import (
    configure,
    least_step,
    obstacles,
    paper_space,
    search,
    settings_tried,
)
from bench_runner.settings.obstacles import parse_settings, settings_words
from bench_runner.settings.settings_tried import Kernels
from tests.bench_runner.records_of_searches import tried

BATCH = 1024
MEASUREMENTS = Path(__file__).parents[2] / "docs" / "measurements"
DECODER, ENCODER, IMAGES = (find_recipe(name) for name in ("pythia-160m", "roberta", "vit"))
CONVNET, SSM = find_recipe("convnext-large-1k"), find_recipe("mamba")
T5 = replace(ENCODER, model=ModelSource(config_class="T5Config", arguments={}))


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("recipe", [DECODER, ENCODER, T5, IMAGES, CONVNET, SSM])
def test_the_whole_space_holds_the_papers_and_each_training_once(recipe, gpus: int) -> None:
    whole = settings_tried.whole_space(recipe, gpus, flash=False)
    assert set(paper_space.space(gpus)) <= set(whole) or not recipe.support.compile
    assert len(set(map(settings_tried.explicit, whole))) == len(whole)
    assert len({paper_space.label(each) for each in whole}) == len(whole)
    # What shards or offloads has weights of its own.
    halves = [k for k in settings_tried.choices(recipe, flash=False) if k.weights == "half"]
    combinations = settings_tried.combinations(recipe, gpus)
    unsharded = [each for each in combinations if each.sharding is None]
    others = len(settings_tried.choices(recipe, flash=False)) - len(halves)
    assert len(whole) == others * len(combinations) + len(halves) * len(unsharded)
    possible = obstacles.every_setting(recipe)
    assert all(obstacles.why_not(recipe, each, possible) is None for each in whole)
    # However it is named: of a recipe that does not compile, free lunch is not compiled.
    every = settings_tried.settings_of_methods(
        "naive,free-lunch,paper,all", recipe, gpus, flash=False
    )
    trained = {
        replace(
            each,
            compilation=configure.compilation(recipe, each),
            attention=configure.attention(recipe, each, flash=None),
        )
        for each in every
    }
    assert len(trained) == len(every) == len(whole) + 1
    assert settings_tried.papers_labels(recipe, gpus) <= set(map(paper_space.label, whole))


@pytest.mark.parametrize("gpus", [1, 2])
def test_what_cannot_recompute_is_never_asked_to(gpus: int) -> None:
    keeps = replace(DECODER, support=replace(DECODER.support, activation_checkpointing=False))
    for methods in ("paper", "free-lunch", "naive", "all", "naive,free-lunch,paper,all"):
        every = settings_tried.settings_of_methods(methods, keeps, gpus, flash=False)
        others = settings_tried.settings_of_methods(methods, DECODER, gpus, flash=False)
        assert every == tuple(each for each in others if not each.activation_checkpointing)
    for recipe, why in ((keeps, "leave out checkpointing"), (DECODER, "None")):
        possible = obstacles.every_setting(recipe)
        assert why in str(obstacles.why_not(recipe, parse_settings("checkpointing"), possible))


def test_what_balances_experts_is_trained_with_the_library_s_own_loss() -> None:
    """Which is that of all tokens fed, so that neither fusing nor trimming is exact."""
    model = replace(
        DECODER.model, arguments={**DECODER.model.arguments, "output_router_logits": True}
    )
    routed = replace(DECODER, model=model)
    assert {(k.loss, k.inputs) for k in settings_tried.choices(routed, flash=False)} == {
        ("plain", "full")
    }
    for words in ("fused", "trimmed"):
        possible = obstacles.every_setting(routed)
        why = obstacles.why_not(routed, parse_settings(words), possible)
        assert f"leave out {words}" in str(why)
    assert not settings_tried.fuses_loss(routed) and settings_tried.fuses_loss(DECODER)


@pytest.mark.parametrize("flash", [False, True])
@pytest.mark.parametrize("recipe", [DECODER, ENCODER, IMAGES, CONVNET])
def test_a_trial_by_name_has_the_key_of_the_searchs(recipe, flash: bool) -> None:
    """None of the space is said in another way, and the words for what is usual add nothing."""
    for searched in settings_tried.whole_space(recipe, 1, flash=flash):
        named = parse_settings(settings_words(settings_tried.explicit(searched)))
        assert settings_tried.as_searched(recipe, named) == searched
    # PyTorch's own, whether a FlashAttention is installed or not.
    named = parse_settings(f"whole,{recipe.support.attention or 'sdpa'}")
    assert settings_tried.as_searched(recipe, named) == parse_settings("free-lunch")


@pytest.mark.parametrize(
    ("capability", "packages", "found"),
    [
        (None, {"flash_attn"}, False),
        ("8.0", {"flash_attn"}, True),
        ("8.0", {"flash_attn_interface"}, False),
        ("9.0", {"flash_attn_interface"}, True),
        ("10.0", {"flash_attn_interface"}, False),
        ("9.0", set(), False),
    ],
)
def test_flash_attention_goes_by_what_the_machine_has(
    capability: str | None, packages: set[str], found: bool
) -> None:
    assert obstacles.has_flash_attention(capability, packages) is found
    reason = obstacles.why_not_here(parse_settings("flash"), flash=found, torchao=False)
    assert (reason is None) is found


@dataclass
class Machine:
    """Kernels and combinations with their own factors; some kernels save memory too."""

    gpus: int
    compiled: dict[str, float]
    eager: dict[str, float]
    fused: float = 0.8
    trimmed: float = 0.95
    burdens: tuple[float, float, float] = (1.3, 1.2, 1.05)
    states: float = 5.0
    logits: float = 1.0
    broken: str | None = None
    half: float = 1.0
    trials: int = 0

    def run(self, settings: Settings) -> Measurement:
        self.trials += 1
        said = settings_tried.kernels_of(settings)
        base = tried(settings, self.gpus, reason="the compiler broke")
        if self.broken in (said.compilation, said.loss):
            return base
        states = self.states * (0.4 if settings.sharding else 1.0)
        activation = 2.0 * (0.25 if settings.activation_checkpointing else 1.0)
        activation += self.logits * (0.05 if said.loss == "fused" else 1.0)
        sizes = [
            size
            for size in paper_space.micro_batch_sizes(BATCH, self.gpus)
            if states + size * activation <= 80
        ]
        if not sizes:
            return replace(base, status="infeasible", reason="out of memory")
        size = sizes[-1]
        checkpointed, offloaded, sharded = self.burdens
        pass_s = 0.01 * (size + 0.3) * self.compiled[said.compilation]
        pass_s *= self.eager[said.compilation] if said.attention == "eager" else 1.0
        pass_s *= self.fused if said.loss == "fused" else 1.0
        pass_s *= self.trimmed if said.inputs == "trimmed" else 1.0
        pass_s *= self.half if said.weights == "half" else 1.0
        pass_s *= checkpointed if settings.activation_checkpointing else 1.0
        pass_s *= offloaded if settings.offloading else 1.0
        pass_s *= sharded if settings.sharding else 1.0
        passes = paper_space.accumulation_steps(BATCH, self.gpus, size)
        update = 0.05 if settings.offloading else 0.02
        step_s = passes * pass_s + update
        return replace(
            base,
            settings=replace(settings, micro_batch_size=size, gradient_accumulation_steps=passes),
            status="ok",
            reason=None,
            step_s=step_s,
            training_days=step_s,
            pass_s=(pass_s,),
            update_s=(update,),
            environment={
                "climb": {"at_the_end": True, "samples_per_s": {str(size): size / pass_s}}
            },
        )


def explore(machine: Machine, candidates: tuple[Settings, ...]) -> list[Measurement]:
    known = least_step.Situation(
        gpu_count=machine.gpus,
        batch_size=BATCH,
        parameters=None,
        half_precision=True,
        usable_memory_gib=80.0,
        host_memory_gib=None,
    )
    done: list[Measurement] = []
    while (a := search.next_action(candidates, done, known, "fast")) is not None:
        assert all(
            least_step.without_micro_batch(r.settings) != a.settings for r in done if r.settings
        )
        if isinstance(a, search.LeaveOut):
            assert a.reason
            done.append(replace(machine.run(a.settings), status="pruned", step_s=None))
            machine.trials -= 1
        else:
            done.append(machine.run(a.settings))
    return done


factors = st.floats(0.8, 1.25)
machines = st.builds(
    Machine,
    st.sampled_from([1, 2]),
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


@settings(max_examples=20, deadline=None)
@given(machines)
def test_fast_finds_the_best_of_all_for_a_tenth_of_the_trials(machine: Machine) -> None:
    candidates = settings_tried.whole_space(DECODER, machine.gpus, flash=False)
    fast = least_step.best_of(explore(machine, candidates))
    tried = machine.trials
    best = least_step.best_of([machine.run(each) for each in candidates])
    assert (fast is None) == (best is None)
    assert tried <= len(candidates) / 10
    if fast is not None and best is not None:
        assert fast.step_s is not None and best.step_s is not None
        assert fast.step_s <= 1.02 * best.step_s


def timed_in(file: str, micro_batch_size: int | None = None) -> dict[Settings, Measurement]:
    """What a GPU measured, by setting; a search's own trials come first, some were taken again."""
    timed: dict[Settings, Measurement] = {}
    for line in (MEASUREMENTS / file).read_text().splitlines():
        record = journal.from_json(json.loads(line))
        if record.settings is None or record.status != "ok":
            continue
        if micro_batch_size in (None, record.settings.micro_batch_size):
            alone = least_step.without_micro_batch(record.settings)
            timed.setdefault(settings_tried.canonical(alone), record)
    return timed


def replay(
    candidates: tuple[Settings, ...],
    timed: dict[Settings, Measurement],
    situation: least_step.Situation,
) -> tuple[float, float]:
    """The fast search where each trial takes what it took on a GPU: its answer over the fastest of
    what was timed, and its share of the seconds that all candidates would take at their mean."""
    done: list[Measurement] = []
    while (a := search.next_action(candidates, done, situation, "fast")) is not None:
        if isinstance(a, search.LeaveOut):
            any_record = next(iter(timed.values()))
            left_out = replace(any_record, settings=a.settings, status="pruned", step_s=None)
            done.append(left_out)
        else:
            done.append(timed[a.settings])
    tried = [record for record in done if record.status == "ok"]
    best, fastest = least_step.best_of(tried), least_step.best_of(list(timed.values()))
    assert best is not None and best.step_s is not None
    assert fastest is not None and fastest.step_s is not None
    seconds = [(record.environment or {})["trial_wall_s"] for record in timed.values()]
    spent = sum((record.environment or {})["trial_wall_s"] for record in tried)
    return best.step_s / fastest.step_s, spent / (len(candidates) * mean(seconds))


@pytest.mark.parametrize(
    ("recipe", "file", "settings", "parameters"),
    [
        ("gpt-wide-short", "h100-decoder-space.jsonl", 192, 89_000_000),
        ("vit-22m-short", "h100-image-space.jsonl", 72, 22_000_000),
    ],
)
def test_where_an_h100_measured_every_setting_it_finds_the_best_for_a_tenth(
    recipe: str, file: str, settings: int, parameters: int
) -> None:
    asked = find_recipe(f"tests/benchmarks/recipes/{recipe}.toml")
    timed = timed_in(file, asked.training.batch_size)
    candidates = settings_tried.whole_space(asked, 1, flash=False)
    assert len(candidates) == settings and set(timed) == set(candidates)
    known = least_step.Situation(
        gpu_count=1,
        batch_size=asked.training.batch_size,
        parameters=parameters,
        half_precision=asked.training.precision in ("fp16", "bf16"),
        usable_memory_gib=78.6,
        host_memory_gib=None,
    )
    over_best, share = replay(candidates, timed, known)
    assert over_best <= 1.02 and share < 0.1


@pytest.mark.parametrize("broken", ["regional", "fused"])
def test_kernels_that_break_are_given_up_and_others_found(broken: str) -> None:
    machine = Machine(
        1,
        compiled={"none": 1.0, "whole": 0.8, "regional": 0.7},
        eager=dict.fromkeys(("none", "whole", "regional"), 1.2),
        broken=broken,
    )
    candidates = settings_tried.whole_space(DECODER, 1, flash=False)
    done = explore(machine, candidates)
    best = least_step.best_of(done)
    assert best is not None and best.settings is not None
    found = settings_tried.kernels_of(best.settings)
    assert found == Kernels(
        compilation="whole" if broken == "regional" else "regional",
        loss="plain" if broken == "fused" else "fused",
        inputs="trimmed",
        attention=None,
    )
    assert machine.trials <= len(candidates) / 10


@pytest.mark.parametrize("gpus", [1, 2])
def test_one_broken_trial_does_not_leave_out_what_promises_most(gpus: int) -> None:
    """Without sharding it is fastest, and its first trial breaks: a kill, a compiler's fault."""
    machine = Machine(
        gpus,
        compiled={"none": 1.0, "whole": 0.72, "regional": 0.7},
        eager=dict.fromkeys(("none", "whole", "regional"), 1.2),
        burdens=(1.3, 1.2, 1.15),
    )
    candidates = settings_tried.whole_space(IMAGES, gpus, flash=False)
    (first, *_), run = candidates, machine.run
    assert first.sharding is None and not first.activation_checkpointing

    def breaks(settings: Settings) -> Measurement:
        record = run(settings)
        if settings != first:
            return record
        return replace(record, status="failed", step_s=None, training_days=None, settings=settings)

    machine.run = breaks  # type: ignore[method-assign]
    done = explore(machine, candidates)
    assert machine.trials <= len(candidates) / 4
    found = least_step.best_of(done)
    best = least_step.best_of([breaks(each) for each in candidates])
    assert found is not None and found.step_s is not None
    assert best is not None and best.step_s is not None
    assert found.step_s <= 1.02 * best.step_s


def test_what_cannot_fit_in_any_way_is_not_tried_with_every_kernel() -> None:
    machine = Machine(
        1,
        compiled=dict.fromkeys(("none", "whole", "regional"), 1.0),
        eager=dict.fromkeys(("none", "whole", "regional"), 1.0),
        fused=1.0,
        trimmed=1.0,
        states=900.0,
    )
    done = explore(machine, settings_tried.whole_space(DECODER, 1, flash=False))
    assert {record.status for record in done} == {"infeasible"}
    assert machine.trials == len(settings_tried.combinations(DECODER, 1))


def test_the_estimate_counts_kernels_too() -> None:
    whole = settings_tried.whole_space(DECODER, 1, flash=False)
    assert search.expected_trials(paper_space.space(1), "fast") == 2
    # The paper's 12 combinations and ZeRO-1 without offloading, kept or recomputed, x 24 kernels;
    # the 2 that do not shard with half-precision weights too
    assert search.expected_trials(whole, "exhaustive") == (12 + 2) * 24 + 2 * 24
    assert (
        2 + paper_space.KERNEL_TRIALS["decoder"][0] <= search.expected_trials(whole, "fast") <= 28
    )


@pytest.mark.parametrize("gpu_count", [1, 2, 8])
def test_what_is_said_before_a_benchmark_is_what_it_counts_itself(gpu_count: int) -> None:
    for recipe in load_recipes():
        chosen = settings_tried.settings_of_methods("all", recipe, gpu_count, flash=False)
        counted = search.expected_trials(chosen, "fast")
        told = paper_space.fast_search(
            recipe.family,
            gpu_count,
            compiles=recipe.support.compile,
            days=1,
            training_steps=1,
            settings=None,
        )
        # By its family alone: a ViT in half precision has more to try than one in FP32.
        assert told.tries == pytest.approx(counted, abs=2.0), recipe.recipe_id
        plain = replace(recipe, support=replace(recipe.support, compile=False))
        fewer = settings_tried.settings_of_methods("all", plain, gpu_count, flash=False)
        counted = search.expected_trials(fewer, "fast")
        told = paper_space.fast_search(
            recipe.family, gpu_count, compiles=False, days=1, training_steps=1, settings=None
        )
        assert told.tries == pytest.approx(counted, abs=1.5), recipe.recipe_id
