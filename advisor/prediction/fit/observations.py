"""Measured training speeds as observations that the fit learns from, each with its source.

Three kinds: the paper's tables (biased by their harness, `harness = "paper"`), published
throughput of other stacks (`public_speeds.py`, each source with its own bias), and this project's
own synchronised records, which are what a prediction means (`harness = "reference"`).
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.prediction.fitted import OWN_STACK
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.memory import HOST_GIB_A_GPU, Option
from bench_runner.records import Settings
from bench_runner.space import STAGES

SECONDS_PER_DAY = 86_400.0
REFERENCE = "reference"
PAPER = "paper"
NATIVE = "native"
"""Training code in C and CUDA."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One measured step time, or (``step_s`` None) that a setting did not fit."""

    observation_id: str
    source_id: str
    kind: str
    """Of software, as sources.csv says: ``trainer`` (Hugging Face's, our own among them),
    ``pytorch`` (training code of its own), ``vendor`` (tuned by a GPU's maker), ``native`` (C and
    CUDA)."""
    harness: str
    """``paper``, ``reference``, or the source's own id: whose bias it carries."""
    workload: Workload
    chip: Chip
    count: int
    method: str
    """``naive``, ``optimal`` (the best of a search), or ``trial`` (settings as given)."""
    option: Option | None
    """The settings where they were given and not searched for; None: the method's best."""
    micro_batch_size: int | None
    step_s: float | None
    rounding: float
    """Relative standard deviation that printing added."""
    searched: tuple[Option, int] | None = None
    """Of the paper's search: the settings that it found, with their micro-batch. They teach the
    memory model; predicting with them would be to peek."""

    host_gib: float = HOST_GIB_A_GPU
    """Host memory for each GPU."""

    @property
    def stack(self) -> str:
        """Whose software it is: our records of all machines are one."""
        return OWN_STACK if self.harness == REFERENCE else self.source_id

    @property
    def plain(self) -> str:
        """``naive`` or ``tuned``: which half of a stack's methods it is."""
        return "naive" if self.method == "naive" else "tuned"

    @property
    def settings(self) -> str:
        """The same, with settings beyond the paper's apart (``lean``): other compilation and
        another loss are code of their own."""
        return "lean" if self.option is not None and self.option.lean else self.plain

    @property
    def training_days(self) -> float | None:
        """The whole run's days."""
        if self.step_s is None:
            return None
        return self.step_s * self.workload.training_steps / SECONDS_PER_DAY

    @property
    def half_width_days(self) -> float:
        """Half the width of the interval that the printed figure stands for."""
        return 0.5 if self.harness == PAPER else 0.0


def option_of(settings: Settings) -> Option:
    """The runner's settings as prediction sees them: ZeRO and FSDP of one stage are one."""
    return Option(
        free_lunch=settings.free_lunch,
        checkpointing=settings.activation_checkpointing,
        stage=STAGES[settings.sharding],
        offloading=settings.offloading,
        lean=settings.loss == "fused",
        half_weights=settings.weights == "half",
    )
