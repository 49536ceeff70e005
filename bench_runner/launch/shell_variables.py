"""What the shell's environment does to a training: taken away, told beforehand, or kept on record.

A variable that some other launcher left behind would train something else in silence, and one for
debugging would slow it down.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench_runner.untrusted_text import printable

_LEFT_BEHIND = ("ACCELERATE_", "FSDP_", "PARALLELISM_CONFIG_", "TORCHELASTIC_", "PET_")
"""Of ``accelerate launch`` and torchrun: precision, sharding, compilation, ranks of another run."""
_RANKS = frozenset(
    ("RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
) | {"GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE", "ROLE_NAME", "MASTER_ADDR", "MASTER_PORT"}
_OFF = ("", "0", "false", "no", "off")
_HARMS: Mapping[str, str] = {
    "CUDA_LAUNCH_BLOCKING": "every kernel is waited for",
    "TORCHDYNAMO_DISABLE": "nothing is compiled",
    "TORCH_COMPILE_DISABLE": "nothing is compiled",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "memory is taken from the driver each time",
    "NVIDIA_TF32_OVERRIDE": "TF32 is on or off whatever the settings say",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "TF32 is on whatever the settings say",
}
_ALSO_TOLD = ("NCCL_", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "CUBLAS_WORKSPACE_CONFIG")
_NO_PART = ("NCCL_DEBUG",)
_LONGEST = 200


def without_other_launchers(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what another launcher left in it."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(_LEFT_BEHIND) and name not in _RANKS
    }


def that_matter(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that change how fast it trains, for the record; those that are off are not."""
    return {
        name: printable(value)[:_LONGEST]
        for name, value in sorted(environment.items())
        if (name in _HARMS and _is_on(name, value))
        or (name.startswith(_ALSO_TOLD) and not name.startswith(_NO_PART))
    }


def warnings(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each variable with which a time is not the machine's."""
    return [
        f"{name} is set to {value!r}, so that {_HARMS[name]}: unset it"
        for name, value in that_matter(environment).items()
        if name in _HARMS
    ]


def _is_on(name: str, value: str) -> bool:
    # Switched off is an override, too.
    return name == "NVIDIA_TF32_OVERRIDE" or value.strip().lower() not in _OFF
