"""What a command asks to be measured: this machine with a recipe, and the settings to try on it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec

from bench_runner.arguments import find_recipe, parse_peaks, parse_settings
from bench_runner.launch import hardware, node_links, shell_variables
from bench_runner.launch.trial_record import Setup
from bench_runner.recipes import Recipe
from bench_runner.records.measurement import Settings
from bench_runner.settings import kernels, obstacles, space


def counted_parameters(recipe: Recipe) -> int:
    """The parameters of a recipe's model; 0 where nobody can count them."""
    from bench_runner.recipe_flops import UncountedArchitectureError, count_flops

    try:
        return count_flops(recipe).parameters
    except UncountedArchitectureError:
        return 0


def asked_setup(arguments: argparse.Namespace) -> Setup:
    """What is measured, on what is here. Raises ValueError where that does not go together."""
    recipe = find_recipe(arguments.recipe)
    space.micro_batch_sizes(recipe.training.batch_size, arguments.gpus)
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
        memory_limit_gib=arguments.memory_limit_gib,
        source_id=arguments.source_id,
        node_count=nodes,
        job_number=os.environ.get("SLURM_JOB_ID"),
        variables=shell_variables.that_matter(os.environ),
    )


def asked_settings(arguments: argparse.Namespace, setup: Setup) -> Sequence[Settings]:
    """The settings that are asked for and go here; what does not is said on stderr."""
    recipe, gpus = setup.recipe, setup.machine.gpus
    capability = gpus[0].compute_capability if gpus and arguments.device == "cuda" else None
    flash = obstacles.has_flash_attention(
        capability, {name for name in obstacles.FLASH_PACKAGES if find_spec(name) is not None}
    )
    why_not_here = partial(
        obstacles.why_not_here,
        device=arguments.device,
        compute_capability=capability,
        torchao=find_spec("torchao") is not None,
        flash=flash,
        deepspeed=find_spec("deepspeed") is not None,
    )
    if arguments.command != "run":
        settings = parse_settings(arguments.settings)
        reason = obstacles.why_not(recipe, settings) or why_not_here(settings)
        if reason is not None:
            raise ValueError(f"--settings is {arguments.settings!r}: {reason}")
        return [kernels.as_searched(recipe, settings)]
    found = kernels.settings_of_methods(arguments.methods, recipe, arguments.gpus, flash=flash)
    if arguments.only:
        asked = [parse_settings(text) for text in arguments.only]
        wanted = [kernels.as_searched(recipe, settings) for settings in asked]
        found = tuple(settings for settings in found if settings in wanted)
        if not found:
            raise ValueError(f"--only names nothing that --methods {arguments.methods} holds")
    reasons = {settings: why_not_here(settings) for settings in found}
    for reason in dict.fromkeys(filter(None, reasons.values())):
        print(reason, file=sys.stderr)
    here = tuple(settings for settings, reason in reasons.items() if reason is None)
    if not here:
        raise ValueError(next(filter(None, reasons.values())))
    return here
