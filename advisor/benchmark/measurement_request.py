"""What a measurement is asked for, and what this machine is."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.typed_input import InputError, install_words
from bench_runner.launch import hardware

if TYPE_CHECKING:
    from advisor.prediction.model.askable_models import Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to measure, and where the runner keeps its records and its work."""

    recipe: str
    """A recipe's id, or the path of a TOML file."""
    ask: Ask | None = None
    """How it is fine-tuned; None: as its recipe says."""
    recipe_text: str | None = None
    """What that file is to hold, written at the start; None where it ships or is there."""
    gpu_count: int
    records_file: Path
    work_directory: Path
    methods: str = "all"
    search: str = "fast"
    minutes: float | None = None
    device: str = "cuda"
    """``cuda`` or ``cpu``."""
    again: bool = False
    peak_tflops: Mapping[str, float] = field(default_factory=dict)
    """Dense peaks of one GPU by ``fp16``, ``bf16``, ``tf32``, ``fp32``; those that are known."""
    more: tuple[str, ...] = ()
    """Further words for the runner."""

    def words(self) -> list[str]:
        """The command line after ``python -m bench_runner``."""
        words = ["run", "--recipe", self.recipe, "--gpus", str(self.gpu_count)]
        words += ["--methods", self.methods, "--search", self.search, "--device", self.device]
        words += ["--records", str(self.records_file), "--work", str(self.work_directory)]
        if self.minutes is not None:
            words += ["--minutes", f"{self.minutes:g}"]
        if self.again:
            words.append("--again")
        if self.peak_tflops:
            peaks = (f"{name}={value:g}" for name, value in self.peak_tflops.items())
            words += ["--peak-tflops", ",".join(peaks)]
        # Whoever made the request was asked already, and nobody could answer the child.
        return [*words, "--yes", *self.more]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ended."""

    kind: str
    """``answered``, ``no-time`` (nothing has a time), ``cancelled``, ``refused`` (wrong input) or
    ``failed``."""
    message: str
    """One line."""
    log_file: Path
    """What the runner wrote on stderr."""
    log_tail: tuple[str, ...]
    suggestion: str | None


def look_here(work_directory: Path) -> hardware.Machine:
    """What this machine has, for a benchmark that works in a folder. Raises InputError."""
    try:
        work_directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"a benchmark's logs cannot be kept in {work_directory} ({error.strerror}): make that "
            "a folder that you may write, or name another with --work"
        ) from None
    return hardware.machine(work_directory)


def check_packages() -> None:
    """Raise InputError where this Python lacks what a measurement needs; looks, and loads
    nothing."""
    from importlib.util import find_spec

    needed = [n for n in BENCH_PACKAGES if n != "deepspeed" or sys.platform == "linux"]
    if missing := [name for name in needed if find_spec(name) is None]:
        raise InputError(
            f"a benchmark trains for real and needs {', '.join(missing)}; {install_words('bench')}"
        )


BENCH_PACKAGES = ("torch", "transformers", "accelerate", "deepspeed", "timm")
KERNEL_PACKAGES = ("mamba_ssm", "causal_conv1d", "flash_attn")
