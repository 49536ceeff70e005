"""The command line of ``python -m bench_runner``, and what it asks to be measured: a recipe, this
machine, and the settings to try on it. Nothing is started here."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from bench_runner.launch import hardware, node_links, shell_variables
from bench_runner.launch.trial_record import LOCAL_SOURCE, Setup
from bench_runner.recipe_table import nearest
from bench_runner.recipes import PEAK_KINDS, Recipe, load_recipe, load_recipes
from bench_runner.records.measurement import Settings
from bench_runner.settings import batch_and_sharding, exact_settings, obstacles, search
from bench_runner.typed_numbers import read_measure, read_positive, read_whole
from bench_runner.untrusted_text import printable

_LARGEST = 1e9


def find_recipe(name: str) -> Recipe:
    """A shipped recipe by its id, or one in a TOML file."""
    if name.endswith(".toml"):
        return load_recipe(Path(name))
    recipes = {recipe.recipe_id: recipe for recipe in load_recipes()}
    if name not in recipes:
        raise ValueError(
            f"no recipe is called {name!r}, nor is it a .toml file; "
            f"{nearest(name, sorted(recipes), 'the folder bench_runner/recipes')}"
        )
    return recipes[name]


def parse_peaks(text: str | None, recipe: Recipe) -> dict[str, float]:
    """``989`` for the recipe's own precision, or ``fp16=989,tf32=494`` for each by name."""
    if text is None:
        return {}
    own = "tf32" if recipe.training.precision == "fp32" else recipe.training.precision
    peaks = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        value = read_positive(number)
        if value is None or (equals and name not in PEAK_KINDS):
            raise ValueError(
                f"--peak-tflops is {text!r}: give a number, or {'=N,'.join(PEAK_KINDS)}=N"
            )
        peaks[name if equals else own] = value
    return peaks


def _positive(unit: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        found = read_measure(text, unit, most=0)  # programs write 45.000
        if found is None or not 0 < found < _LARGEST:
            raise argparse.ArgumentTypeError(f"{text} is not a positive number of {unit}")
        return float(found)

    return read


def _count(text: str) -> int:
    value = read_whole(text)
    if value is None:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of 1 or more")
    return value


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        text = printable(" ".join(message.split()))
        self.exit(2, f"bench_runner: {text} (see: {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """All commands and flags."""
    root = _Parser(prog="python -m bench_runner", description="Measure this machine, honestly.")
    commands = root.add_subparsers(dest="command", required=True)
    _measuring_flags(commands.add_parser("run", help="search the settings of a recipe"))
    exporting = commands.add_parser("export", help="the winner as files to train with")
    exporting.add_argument("--recipe", required=True)
    exporting.add_argument("--records", type=Path, default=Path("records.jsonl"))
    exporting.add_argument("--out", type=Path, required=True)
    exporting.add_argument("--id")
    exporting.add_argument("--rounding", action="store_true", help="what rounds otherwise, too")
    return root


OF_A_TRIAL = ("minimum_steps", "maximum_steps", "settle_s", "exchange_timeout_s")
"""Flags that each trial is handed as they are."""


def _measuring_flags(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--recipe", required=True, help="a recipe's id or a TOML file")
    add("--gpus", type=_count, default=1)
    add("--methods", default="all", help="naive, free-lunch, paper, all; several by commas")
    add("--settings", help="one combination alone, in words joined by commas")
    add("--micro-batch", type=_count)
    add("--largest-micro-batch", type=_count)
    add("--search", choices=search.STRATEGIES, default="fast")
    add("--minutes", type=_positive("minutes"))
    add("--trial-minutes", type=_positive("minutes"), default=20.0)
    add("--peak-tflops")
    add("--records", type=Path, default=Path("records.jsonl"))
    add("--work", type=Path, default=Path("bench-work"))
    add("--again", action="store_true", help="measure what was measured before, too")
    add("--yes", action="store_true", help="start in spite of busy GPUs or scarce memory")
    add("--device", choices=("cuda", "cpu"), default="cuda")
    add("--launcher", choices=("local", "slurm"), default="local")
    add("--source-id", default=LOCAL_SOURCE)
    add("--minimum-steps", type=_count, default=5)
    add("--maximum-steps", type=_count, default=60)
    add("--settle-s", type=_positive("seconds"), default=60.0)
    add("--exchange-timeout-s", type=_positive("seconds"), default=60.0)


def asked_setup(arguments: argparse.Namespace) -> Setup:
    """What is measured, on what is here. Raises ValueError where that does not go together."""
    recipe = find_recipe(arguments.recipe)
    batch_and_sharding.micro_batch_sizes(recipe.training.batch_size, arguments.gpus)
    machine = hardware.machine(arguments.work)
    found = len(machine.gpus)
    if arguments.device == "cuda" and not found:
        raise ValueError(f"{hardware.why_no_gpu()}; or try it without a GPU: --device cpu")
    if arguments.device == "cuda" and arguments.launcher == "local" and found < arguments.gpus:
        raise ValueError(
            f"--gpus is {arguments.gpus} but nvidia-smi shows {found}: ask for at most that, or "
            "try it without a GPU: --device cpu"
        )
    if arguments.device == "cuda":
        hardware.check_alike(machine.gpus[: arguments.gpus])
    nodes = 1
    if arguments.launcher == "slurm":
        nodes = max(1, node_links.node_count(dict(os.environ)))
        if arguments.device == "cuda" and 0 < found < arguments.gpus // nodes:
            raise ValueError(
                f"--gpus {arguments.gpus} over {nodes} nodes is {arguments.gpus // nodes} each, "
                f"but nvidia-smi shows {found} here: ask SLURM for more, or for fewer by --gpus"
            )
    return Setup(
        recipe=recipe,
        machine=machine,
        gpu_count=arguments.gpus,
        device=arguments.device,
        peak_tflops=parse_peaks(arguments.peak_tflops, recipe),
        records_file=arguments.records,
        work_directory=arguments.work,
        strategy=arguments.search,
        minutes=arguments.minutes,
        trial_minutes=arguments.trial_minutes,
        again=arguments.again,
        launcher=arguments.launcher,
        micro_batch_size=arguments.micro_batch,
        largest_micro_batch=arguments.largest_micro_batch,
        trial={name: getattr(arguments, name) for name in OF_A_TRIAL},
        source_id=arguments.source_id,
        node_count=nodes,
        job_number=os.environ.get("SLURM_JOB_ID"),
        variables=shell_variables.that_matter(os.environ),
    )


def asked_settings(arguments: argparse.Namespace, setup: Setup) -> Sequence[Settings]:
    """The settings that are asked for and go here; what does not is said on stderr."""
    recipe, gpus = setup.recipe, setup.machine.gpus
    capability = gpus[0].compute_capability if gpus and arguments.device == "cuda" else None
    packages = {name for name in obstacles.PACKAGES if find_spec(name) is not None}
    flash = obstacles.has_flash_attention(capability, packages)

    def why_not_here(settings: Settings) -> str | None:
        return obstacles.why_not_here(settings, recipe.training, packages, capability)

    if arguments.settings is not None:
        settings = obstacles.parse_settings(arguments.settings)
        every = obstacles.every_setting(recipe)
        reason = obstacles.why_not(recipe, settings, every) or why_not_here(settings)
        if reason is not None:
            raise ValueError(f"--settings is {arguments.settings!r}: {reason}")
        return [exact_settings.as_searched(recipe, settings)]
    found = exact_settings.settings_of_methods(
        arguments.methods, recipe, arguments.gpus, flash=flash
    )
    reasons = {settings: why_not_here(settings) for settings in found}
    for reason in dict.fromkeys(filter(None, reasons.values())):
        print(reason, file=sys.stderr)
    here = tuple(settings for settings, reason in reasons.items() if reason is None)
    if not here:
        raise ValueError(next(filter(None, reasons.values())))
    return here
