"""`python -m tools.fit.accuracy_page [--out FILE]` writes how good predictions are.

Everything is left out of the fit and predicted by the functions that tell users, which takes some
minutes. docs/prediction.md is what it wrote last; a test fails when the evidence has changed since.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

# One thread: the matrices are small, and threads that wait for each other cost more than they do.
# It must be set before numpy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from advisor.prediction.fitted import Fitted  # noqa: E402
from advisor.prediction.observed_times import PAPER, Observation  # noqa: E402
from advisor.prediction.shipped_predictions import shipped_fit  # noqa: E402
from bench_runner.recipes import IMAGE_FAMILIES  # noqa: E402
from bench_runner.typed_numbers import percent  # noqa: E402
from tools.fit.finetuning import as_table as tuned_table  # noqa: E402
from tools.fit.finetuning import load_tuned  # noqa: E402
from tools.fit.fit_memory import fit_costs, held_gib, peaks_of, says_fits  # noqa: E402
from tools.fit.held_out import (  # noqa: E402
    Held,
    folds,
    gpu,
    hold_out,
    is_others,
    is_own,
    model,
    source,
)
from tools.fit.refit import fingerprint  # noqa: E402
from tools.fit.shipped_evidence import load_evidence  # noqa: E402
from tools.fit.training_limits import as_table  # noqa: E402

Row = Sequence[object]
Group = Callable[[Observation], bool]
BEFORE = Path(__file__).with_name("accuracy_page_start.md")
AFTER = Path(__file__).with_name("accuracy_page_end.md")
CUTS = {
    "our software, a model that we never timed": (is_own, model, True),
    "our software, a GPU that we never timed": (is_own, gpu, True),
    "other software, whose settings you say": (is_others, source, True),
    "other software, of which you say nothing": (is_others, source, False),
}
"""What a reader may ask for: which times, what is left out, and whether their settings are said."""
GROUPS: dict[str, Group] = {
    "text": lambda o: o.workload.family not in IMAGE_FAMILIES,
    "images": lambda o: o.workload.family in IMAGE_FAMILIES,
    "H100": lambda o: gpu(o) == "H100",
    "A100": lambda o: gpu(o) == "A100",
    "V100": lambda o: gpu(o) == "V100",
    "consumer GPUs": lambda o: o.chip.half_rate,
    "8 GPUs": lambda o: o.count == 8,
    "several machines": lambda o: o.count > 8,
}


def main() -> int:
    """Print the page, or write it to a file."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit.accuracy_page", description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there instead")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    options = parser.parse_args()
    observations = load_evidence()
    cuts = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, (asked, key, said) in CUTS.items():
            parts = pool.map(partial(hold_out, said=said), folds(observations, asked, key))
            cuts[name] = [held for part in parts for held in part]
    text = page(observations, shipped_fit(), cuts)
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text, encoding="utf-8")
    return 0


def page(observations: Sequence[Observation], fitted: Fitted, cuts: dict[str, list[Held]]) -> str:
    """All of it."""
    ours, _, said, unsaid = cuts.values()
    parts = [
        BEFORE.read_text(encoding="utf-8").strip(),
        table(("you ask for", *HEAD), [(name, *figures(held)) for name, held in cuts.items()]),
        f"Evidence: {fitted.observations} measured times, fit {fingerprint(observations)}. Written "
        "by `python -m tools.fit.accuracy_page --out docs/prediction.md`.",
        "## Other people's software",
        "Whole sources left out, with their settings said: compiled or not, attention, sharding, "
        "checkpointing, micro-batch.",
        grouped(said, GROUPS),
        "The same with nothing said:",
        grouped(unsaid, GROUPS),
        "The simple table is the median share of the peak by generation of GPU and kind of model. "
        "It is better in no group, so that nothing is predicted by it."
        if not better(said)
        else f"The simple table is better for {', '.join(better(said))}; it cannot tell two "
        "networks or two batches apart, so that nothing is predicted by it.",
        "By source, settings said:",
        grouped(said, by(source, said)),
        "## Our software",
        "Whole models left out:",
        grouped(ours, by(lambda o: o.workload.family, ours)),
        "Whole GPU types left out:",
        grouped(list(cuts.values())[1], by(gpu, list(cuts.values())[1])),
        "## The fastest that is predicted",
        "No prediction is faster than the highest share of what its matrix products alone take on "
        "a GPU that any training in half precision was measured at in a framework such as PyTorch: "
        f"{percent(fitted.highest_share)}, of tuned software {percent(fitted.tuned_share)}.",
        "## Fine-tuning",
        "Every weight or adapters (`--train full`, `lora`, `qlora`) at all linear layers, with "
        "their settings said; no fit sees these times. What adapters cost, and how much of a "
        "layer they keep, are five numbers chosen on the Llama shapes of the first two sources, "
        "what unpacking weights of 4 bits costs on Qwen 7B. With one of the sizes 1B, 3B and 8B "
        "left out of that choice, our own software with adapters is 4.8 % off in time (11 of 11 "
        "inside), with all weights 1.8 %, the libraries' defaults with adapters 6.8 % (9 of 9 "
        "inside). *Memory* is predicted over measured, less one, without CUDA's context; it is 2 % "
        "off (at most 7 %) of ours with adapters and 5 % (8 %) with all weights. Defaults without "
        "autocast keep FP32 copies and hold up to a sixth more than predicted (the H100's rows). "
        "Full fine-tuning is predicted with FP32 copies of the weights: the libraries' defaults "
        "without them (weights and states in BF16) take as long and half the memory. Unsloth on a "
        "B200 waits for its host: its rate does not rise with the GPU. MLPerf's llama2_70b_lora "
        "computes in 8 bits, and is not compared. `python -m tools.fit.finetuning` prints it.",
        tuned_table(load_tuned(fitted)),
        "## Fits or not",
        verdict_words(observations),
        "GPU memory that our own trainings held at most, without CUDA's context, whole models left "
        "out; bias is the median logarithm of predicted over measured.",
        memory_table(observations),
        "## GPUs held back by their watts",
        "A power limit slows a training by less than matrix products alone. Below, each GPU's "
        "trainings under limits are predicted from the others' (root mean square of logarithms).",
        as_table(),
        AFTER.read_text(encoding="utf-8").strip(),
    ]
    return "\n\n".join(parts) + "\n"


def table(head: Row, rows: Sequence[Row]) -> str:
    """In Markdown."""
    lines = [" | ".join(map(str, row)) for row in (head, *rows)]
    return "\n".join(
        [f"| {lines[0]} |", "|---" * len(head) + "|", *(f"| {x} |" for x in lines[1:])]
    )


HEAD = ("times", "median error", "9 in 10 within", "inside", "interval", "bias", "simple table")


def figures(held: Sequence[Held]) -> list[str]:
    """The columns of HEAD; what is told not to fit has no error."""
    told = [h for h in held if not math.isnan(h.days)]
    refused = len(held) - len(told)
    if not told:
        return [f"0 of {len(held)}", *["-"] * (len(HEAD) - 1)]
    errors = sorted(h.error for h in told)
    simple = [h.simple_error for h in told if not math.isnan(h.simple_error)]
    return [
        f"{len(told)} of {len(held)}" if refused else str(len(told)),
        percent(median_error(told), 1),
        percent(errors[min(len(errors) - 1, int(0.9 * len(errors)))]),
        percent(sum(h.inside for h in told) / len(told)),
        f"x/÷{statistics.median(h.high / h.days for h in told):.2f}",
        f"{statistics.median(math.log(h.truth / h.days) for h in told):+.2f}",
        percent(statistics.median(simple), 1),
    ]


def median_error(held: Sequence[Held]) -> float:
    """Of what is told."""
    return statistics.median(h.error for h in held if not math.isnan(h.days))


def by(key: Callable[[Observation], Hashable], held: Sequence[Held]) -> dict[str, Group]:
    """A group for each value of the key."""
    values = sorted({str(key(h.observation)) for h in held})
    return {value: lambda o, value=value: str(key(o)) == value for value in values}  # type: ignore[misc]


def grouped(held: Sequence[Held], groups: dict[str, Group]) -> str:
    """A row a group."""
    rows = [(name, [h for h in held if of(h.observation)]) for name, of in groups.items()]
    return table(("", *HEAD), [(name, *figures(found)) for name, found in rows if found])


def better(held: Sequence[Held]) -> list[str]:
    """Groups for which the simple table is nearer."""
    found = []
    for name, of in GROUPS.items():
        told = [h for h in held if of(h.observation) and not math.isnan(h.days)]
        if told and statistics.median(h.simple_error for h in told) < median_error(told):
            found.append(name)
    return found


def verdict_words(observations: Sequence[Observation]) -> str:
    """How often the memory model is wrong about the paper's tables."""
    paper = [o for o in observations if o.harness == PAPER]
    wrong = {}
    for name, key in (("a model", model), ("a GPU type", gpu)):
        wrong[name] = 0
        for value in {key(o) for o in paper}:
            held = [o for o in paper if key(o) == value]
            costs = fit_costs([o for o in paper if key(o) != value])
            says = zip(held, says_fits(held, costs), strict=True)
            wrong[name] += sum(fits != (o.step_s is not None) for o, fits in says)
    return (
        f"Of {len(paper)} cells of the paper's Tables 1 and 4, the memory model is wrong about "
        + " and ".join(f"{number} with {name} left out" for name, number in wrong.items())
        + "."
    )


def memory_table(observations: Sequence[Observation]) -> str:
    """How far the memory model is off, by settings."""
    import numpy as np

    off: dict[str, list[float]] = {"naive": [], "free lunch": [], "exported": []}
    for seen, asked in folds(observations, lambda o: o.peak_gib is not None, model):
        costs = fit_costs(seen)
        for option, columns, sizes, gib in peaks_of(asked):
            name = "exported" if option.lean else "free lunch" if option.free_lunch else "naive"
            off[name] += np.log(held_gib(option, columns, costs, sizes) / gib).tolist()
    rows = []
    for name, logs in off.items():
        errors = sorted(abs(math.expm1(each)) for each in logs)
        rows.append(
            (
                *(name, len(logs), percent(statistics.median(errors))),
                *(percent(errors[int(0.9 * len(errors))]), f"{statistics.median(logs):+.2f}"),
            )
        )
    return table(("settings", "trainings", "median error", "9 in 10 within", "bias"), rows)


if __name__ == "__main__":
    sys.exit(main())
