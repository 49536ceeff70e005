"""The fast search of a recipe's whole space against every setting of it, in pieces of some minutes.

    python tests/benchmarks/whole_space.py RECIPE.toml --out DIR --minutes 9 [--device cpu]
    python tests/benchmarks/whole_space.py RECIPE.toml --out DIR --only-say

The fast search runs first, so that the exhaustive one finds its compiled kernels: what it took is
never too little. Then come all settings, each found its micro-batch as the fast search finds one
(or all at --micro-batch), those that could win first: an answer that is cut short is of use. The
same call again goes on where it stopped. At the end the fast search's answer and the fastest of
the others take turns --rounds times, since one trial's noise may choose either.

--kept FILE: records of an earlier day, of the same recipe, kind of GPU and library versions, stand
for their settings, and its fast search for this one.

--first "checkpointing;zero-2,offloading,regional" names settings, as `--settings` takes them, that
come before the others where there is no time for all.

--together 15: the same settings in a fraction of the time, by tests/benchmarks/turns.py: processes
get ready side by side and time their steps one after the other, each alone. Three settings that
--kept holds are measured again so (DIR/controls.jsonl), and the rounds at the end, too. An image
model's space on an H100 with 16 cores was finished so, from the root of the repository:

    export HF_HUB_OFFLINE=1 TORCH_CUDA_ARCH_LIST=9.0 OMP_NUM_THREADS=8 PYTHONPATH=/tmp/site:$PWD
    python tests/benchmarks/whole_space.py tests/benchmarks/recipes/vit-22m-short.toml --out $OUT \
        --minutes 8.8 --micro-batch 256 --kept docs/measurements/h100-image-space.jsonl \
        --together 15 --rounds 3

What an exhaustive search takes in the ordinary way is then an estimate, told as three: every
setting as long as the shortest ordinary trial of all; as the mean of ordinary trials with its
compilation, or its own process's seconds where these were fewer; and as its own process's alone.

DIR/summary.json has both searches' seconds, trials and answers. DIR/fast.jsonl, DIR/every.jsonl and
DIR/rounds.jsonl have the records.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from statistics import median
from typing import Any

from bench_runner import __main__ as commands
from bench_runner import journal, kernels, space
from bench_runner.arguments import parse_settings, parser, settings_words
from bench_runner.locks import only_benchmark
from bench_runner.recipes import Recipe, load_recipe, recipe_hash
from bench_runner.records import Measurement, Settings
from bench_runner.search import without_micro_batch
from tests.benchmarks.turns import Rules, Turns

SHORTEST_S = 20
"""With less time left no trial is begun."""
STEPS = ("--minimum-steps", "3")


def in_order(recipe: Recipe, gpu_count: int) -> list[Settings]:
    """The whole space: first what keeps and shards nothing, then what differs from the leanest
    kernels in one switch, then in two; whole-model compilation, the longest trials, last."""
    every = kernels.whole_space(recipe, gpu_count, flash=False)
    lean = kernels.most_promising(recipe)

    def place(settings: Settings) -> tuple[int, int, bool, int]:
        mine = kernels.kernels_of(settings)
        apart = sum(
            getattr(mine, field.name) != getattr(lean, field.name) for field in fields(lean)
        )
        burdens = (
            settings.activation_checkpointing
            + settings.offloading
            + (settings.sharding is not None)
        )
        return (min(burdens, 1), burdens + apart, mine.compilation == "whole", apart)

    return sorted(every, key=place)


def timed(records: Iterable[Measurement]) -> dict[Settings, Measurement]:
    """The last record of each setting, with or without a time."""
    found = {}
    for record in records:
        if record.settings is not None and record.method != "optimal" and record.status != "pruned":
            found[kernels.canonical(without_micro_batch(record.settings))] = record
    return found


def has_size(record: Measurement, micro_batch: int) -> bool:
    """Whether a record is of this micro-batch."""
    return record.settings is not None and record.settings.micro_batch_size == micro_batch


def same_kind(record: Measurement, recipe: Recipe, like: Measurement | None) -> bool:
    """Whether a kept record was taken of this recipe, on this kind of device, by this software."""
    if record.recipe_hash != recipe_hash(recipe):
        return False
    if like is None:
        return True
    return (record.gpu, used_versions(record)) == (like.gpu, used_versions(like))


def used_versions(record: Measurement) -> dict[str, Any]:
    """The versions without FlashAttention's: no setting of the whole space here uses it."""
    versions = record.environment.get("versions") or {}
    return {name: of for name, of in versions.items() if name != "flash-attn"}


def told_of(record: Measurement) -> str:
    """One line for whoever waits."""
    assert record.settings is not None
    wall_s = record.environment.get("trial_wall_s", 0)
    return (
        f"{space.label(record.settings):70} {record.status:10} {record.step_s or 0:.4f} s a step, "
        f"{wall_s:.0f} s {record.reason or ''}"
    )


def dealt(settings: list[Settings]) -> list[Settings]:
    """The same order among those that compile the whole model and among the others, but each
    stretch with its share of both: the former compile while the latter start."""
    whole = [s for s in settings if kernels.explicit(s).compilation == "whole"]
    rest = [s for s in settings if kernels.explicit(s).compilation != "whole"]
    placed = [
        ((place + 0.5) / len(some), s) for some in (whole, rest) for place, s in enumerate(some)
    ]
    return [s for _, s in sorted(placed, key=lambda pair: pair[0])]


def what_is_held(settings: Settings) -> tuple[object, ...]:
    """What settles most of the memory that one step of a recipe and micro-batch takes."""
    mine = kernels.explicit(settings)
    return (settings.activation_checkpointing, mine.loss, mine.attention)


class Side:
    """Trials side by side that are timed one after the other (tests/benchmarks/turns.py)."""

    def __init__(self, arguments: argparse.Namespace, kept: list[Measurement], ends: float) -> None:
        self.arguments, self.kept, self.ends = arguments, kept, ends
        self.seen = list(kept)
        for records in ("fast.jsonl", "every.jsonl"):
            if (arguments.out / records).exists():
                self.seen += journal.read(arguments.out / records)
        words = ["trial", "--recipe", str(arguments.recipe), "--settings", "free-lunch"]
        words += ["--device", arguments.device, "--work", str(arguments.work)]
        arguments.work.mkdir(parents=True, exist_ok=True)
        self.setup = commands._setup(parser().parse_args(words))
        gpus = self.setup.machine.gpus
        self.memory_gib = gpus[0].memory_gib if gpus and arguments.device == "cuda" else 20.0

    def needs_gib(self, settings: Settings) -> float:
        """By what was held by such a step; else as was said, or a third of the device."""
        held = [
            float(r.environment["peak_reserved_gib"])
            for r in self.seen
            if r.settings is not None
            and has_size(r, self.arguments.micro_batch)
            and what_is_held(r.settings) == what_is_held(settings)
            and r.environment.get("peak_reserved_gib")
        ]
        return 1.05 * max(held) if held else self.arguments.unknown_gib or self.memory_gib / 3

    def run(
        self, wanted: list[Settings], records: str, files: dict[Settings, str] | None = None
    ) -> bool:
        """Measure these; whether each has its answer. ``files``: of those with one of their own."""

        def keep(record: Measurement) -> None:
            assert record.settings is not None
            which = kernels.canonical(without_micro_batch(record.settings))
            journal.append(self.arguments.out / (files or {}).get(which, records), record)
            self.seen.append(record)
            print(told_of(record), flush=True)

        turns = Turns(
            self.setup,
            Rules(
                together=self.arguments.together,
                memory_gib=self.memory_gib,
                needs_gib=self.needs_gib,
                patience_s=self.arguments.patience,
                settle_s=self.arguments.settle,
                compilers=self.arguments.compilers,
            ),
            work=self.arguments.work,
            ends=self.ends,
            micro_batch=self.arguments.micro_batch,
            keep=keep,
        )
        gpus = self.setup.machine.gpus
        cuda = self.arguments.device == "cuda"
        with only_benchmark([gpus[0].uuid if cuda else "cpu"]):
            return turns.run(wanted)


class Runs:
    """Calls of bench_runner until the minutes are over."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.ends = time.monotonic() + arguments.minutes * 60

    def left_s(self) -> float:
        return self.ends - time.monotonic()

    def call(self, *words: str, records: str, more: Iterable[str] = ()) -> bool:
        """One call; whether it came to its end."""
        arguments = self.arguments
        process = subprocess.run(
            [
                *(sys.executable, "-m", "bench_runner", words[0]),
                *("--recipe", str(arguments.recipe), *words[1:], *STEPS),
                *("--gpus", str(arguments.gpus), "--device", arguments.device, "--yes"),
                *("--records", str(arguments.out / records), "--work", str(arguments.work)),
                *("--minutes", f"{self.left_s() / 60:.2f}", *arguments.flags.split(), *more),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        last: dict[str, Any] = {}
        for line in process.stdout.splitlines():
            event = json.loads(line)
            if event["event"] in ("trial-finished", "reused"):
                record = event["record"]
                print(
                    f"{event['event']:15} {event['label']:70} {record['status']:10} "
                    f"{record['step_s'] or 0:.4f} s a step, "
                    f"{record['environment'].get('trial_wall_s', 0):.0f} s",
                    flush=True,
                )
            last = event
        return last.get("event") == "search-finished" and bool(last["complete"])


def main() -> int:
    words = argparse.ArgumentParser()
    words.add_argument("recipe", type=Path)
    words.add_argument("--out", type=Path, required=True)
    words.add_argument("--minutes", type=float, default=9.0)
    words.add_argument("--gpus", type=int, default=1)
    words.add_argument("--device", default="cuda")
    words.add_argument("--micro-batch", type=int)
    words.add_argument("--kept", type=Path)
    words.add_argument("--first", default="", help="settings to begin with, parted by ;")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--work", type=Path, default=Path("/tmp/bench-work"))
    words.add_argument("--flags", default="", help="appended to every call of bench_runner")
    words.add_argument("--together", type=int, default=1)
    words.add_argument("--patience", type=float, default=60.0, help="seconds until turns are taken")
    words.add_argument("--settle", type=float, default=8.0, help="seconds to settle, --together")
    words.add_argument("--unknown-gib", type=float, help="of a step unlike all before, --together")
    words.add_argument("--compilers", type=int, default=4, help="of each process, --together")
    words.add_argument("--only-say", action="store_true", help="run nothing, say what there is")
    arguments = words.parse_args()
    if arguments.together > 1 and (arguments.micro_batch is None or arguments.gpus > 1):
        words.error("--together needs --micro-batch, and one GPU")
    arguments.out.mkdir(parents=True, exist_ok=True)
    recipe = load_recipe(arguments.recipe)
    runs = Runs(arguments)
    kept = journal.read(arguments.kept) if arguments.kept else []
    first = [parse_settings(text) for text in arguments.first.split(";") if text]
    wanted = sorted(in_order(recipe, arguments.gpus), key=lambda settings: settings not in first)
    at_size: tuple[str, ...] = ()
    if arguments.micro_batch is not None:
        at_size = ("--micro-batch", str(arguments.micro_batch))
    searched = arguments.only_say or any(record.method == "optimal" for record in kept)
    if not searched and not runs.call(
        *("run", "--methods", "all", "--search", "fast"), records="fast.jsonl"
    ):
        print("the fast search is not finished: call again")
        return 1

    def known() -> dict[Settings, Measurement]:
        mine = journal.read(arguments.out / "every.jsonl")
        fast = [record for record in kept if record.environment.get("climb_to") == "fastest"]
        held = fast
        if arguments.micro_batch is not None:
            held = [r for r in kept if has_size(r, arguments.micro_batch)]
        like = mine[0] if mine else None
        return timed([*(r for r in held if same_kind(r, recipe, like)), *mine])

    side = None
    if arguments.together > 1 and not arguments.only_say:
        side = Side(arguments, kept, runs.ends)
        measure_beside(side, wanted, known())
    for settings in wanted:
        if side is not None or arguments.only_say or runs.left_s() < SHORTEST_S:
            break
        if settings in known():
            continue
        size = (
            () if arguments.micro_batch is None else ("--micro-batch", str(arguments.micro_batch))
        )
        runs.call("trial", "--settings", settings_words(settings), records="every.jsonl", more=size)
    every = known()
    fast_file = arguments.out / "fast.jsonl"
    fast = journal.read(fast_file) if fast_file.exists() else kept
    fast = [record for record in fast if record.environment.get("climb_to") == "fastest"]
    summary = told(wanted, every, fast)
    if summary["measured"] == len(wanted) and not arguments.only_say:
        fastest = sorted(
            (r for r in every.values() if r.step_s), key=lambda record: record.step_s or 0
        )
        answer = answer_of(fast)
        rivals = [kernels.canonical(without_micro_batch(r.settings)) for r in fastest if r.settings]
        rivals = [answer, *(each for each in rivals[:4] if each != answer)]
        took = journal.read(arguments.out / "rounds.jsonl")
        if side is not None and not took:
            side.run(rivals * arguments.rounds, "rounds.jsonl")
        for place in range(len(took), arguments.rounds * len(rivals)):
            if side is not None or runs.left_s() < SHORTEST_S:
                break
            settings = rivals[place % len(rivals)]
            words = ("trial", "--again", "--settings", settings_words(settings))
            runs.call(*words, records="rounds.jsonl", more=at_size)
    rounds = journal.read(arguments.out / "rounds.jsonl")
    seconds: dict[str, list[float]] = {}
    for record in rounds:
        if record.settings is not None and record.step_s is not None:
            name = space.label(kernels.canonical(without_micro_batch(record.settings)))
            seconds.setdefault(name, []).append(record.step_s)
    summary["rounds"] = {name: {"step_s": s, "median": median(s)} for name, s in seconds.items()}
    if summary["answer"] in seconds:
        best = min(median(s) for s in seconds.values())
        summary["answer_over_best_of_rounds"] = median(seconds[summary["answer"]]) / best
    controls = timed(journal.read(arguments.out / "controls.jsonl"))
    summary["controls_over_kept"] = {
        space.label(s): r.step_s / (every[s].step_s or 1)
        for s, r in controls.items()
        if s in every and r.step_s
    }
    summary["this_call_s"] = round(arguments.minutes * 60 - runs.left_s(), 1)
    mine = journal.read(arguments.out / "every.jsonl")
    strange = [r for r in kept if mine and not same_kind(r, recipe, mine[0])]
    if strange:
        summary["kept_but_of_other_versions_and_not_counted"] = len(strange)
    text = json.dumps(summary, indent=1)
    (arguments.out / "summary.json").write_text(text + "\n")
    print(text)
    return 0 if summary["measured"] == len(wanted) else 1


def measure_beside(side: Side, wanted: list[Settings], known: dict[Settings, Measurement]) -> None:
    """All that are not known, and before them the controls: of those that are, the fast search's
    answer, the fastest without compilation and the fastest that shards, all over again."""
    done = journal.read(side.arguments.out / "controls.jsonl")
    controls: list[Settings] = []
    if side.kept and not done:
        timed_ones = sorted(
            (s for s, r in known.items() if r.step_s), key=lambda s: known[s].step_s or 0
        )
        plain = [s for s in timed_ones if kernels.explicit(s).compilation == "none"]
        shards = [s for s in timed_ones if s.sharding is not None]
        controls = list(dict.fromkeys([answer_of(side.kept), *plain[:1], *shards[:1]]))
    # One after the other in one row, so that the controls share their batch with the first others.
    files = dict.fromkeys(controls, "controls.jsonl")
    side.run([*controls, *dealt([s for s in wanted if s not in known])], "every.jsonl", files)


def answer_of(fast: list[Measurement]) -> Settings:
    """What the fast search named the best."""
    named = [record for record in fast if record.method == "optimal"]
    best = min(named or fast, key=lambda record: record.step_s or float("inf"))
    assert best.settings is not None
    return kernels.canonical(without_micro_batch(best.settings))


def wall_s(record: Measurement) -> float:
    """Seconds of a trial's own process."""
    return float(record.environment.get("trial_wall_s") or 0)


def ordinary(
    found: dict[Settings, Measurement], known: list[Measurement], fast_s: float, wanted: int
) -> dict[str, Any]:
    """What one trial after the other would take, three ways, and the fast search's share of each.

    ``known``: records of which those taken in the ordinary way say how long a trial takes.
    """
    trials: dict[str | None, list[float]] = {}
    for record in known:
        if "turns" not in record.environment and record.settings is not None:
            kind = kernels.explicit(record.settings).compilation
            trials.setdefault(kind, []).append(wall_s(record))
    every = [seconds for some in trials.values() for seconds in some]
    if not every:
        return {}
    sums = {"all_as_the_shortest_s": 0.0, "as_their_kind_s": 0.0, "own_processes_s": 0.0}
    for settings, record in found.items():
        own = wall_s(record)
        like = trials.get(kernels.explicit(settings).compilation, every)
        beside = "turns" in record.environment
        sums["all_as_the_shortest_s"] += min(every) if beside else own
        sums["as_their_kind_s"] += min(own, sum(like) / len(like)) if beside else own
        sums["own_processes_s"] += own
    all_of_them = {name: round(s * wanted / len(found), 1) for name, s in sums.items()}
    shares = {name: round(fast_s / s, 4) for name, s in all_of_them.items()}
    return {"ordinary_exhaustive": all_of_them, "fast_share_of_ordinary": shares}


def told(
    wanted: list[Settings], every: dict[Settings, Measurement], fast: list[Measurement]
) -> dict[str, Any]:
    """Both searches' trials, seconds and answers, and how they compare."""
    tried = [r for r in fast if r.method != "optimal" and r.status != "pruned"]
    found = {settings: every[settings] for settings in wanted if settings in every}
    all_s = sum(map(wall_s, found.values()))
    fast_s = sum(map(wall_s, tried))
    ok = [r for r in found.values() if r.step_s is not None]
    best = min(ok, key=lambda r: r.step_s or 0, default=None)
    answer = answer_of(fast)
    again = every.get(answer)
    summary: dict[str, Any] = {
        "settings": len(wanted),
        "measured": len(found),
        "without_a_time": {space.label(s): r.reason for s, r in found.items() if r.step_s is None},
        "exhaustive_s": round(all_s, 1),
        "fast_trials": len(tried),
        "fast_s": round(fast_s, 1),
        "answer": space.label(answer),
    }
    if found:
        # What is left would take what the others took on average.
        summary["fast_share_of_time"] = fast_s / (all_s * len(wanted) / len(found))
    if any("turns" in r.environment for r in found.values()):
        summary |= ordinary(found, [*tried, *found.values()], fast_s, len(wanted))
    if best is not None and best.settings is not None:
        summary["best"] = space.label(kernels.canonical(without_micro_batch(best.settings)))
        if again is not None and again.step_s is not None and best.step_s is not None:
            summary["answer_over_best"] = again.step_s / best.step_s
    return summary


if __name__ == "__main__":
    sys.exit(main())
