"""Hugging Face's Trainer with marks at its own boundaries. It runs the steps; this only looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from bench_runner.worker.models import RandomBatches
from bench_runner.worker.step_times import Clock

_OUT_OF_MEMORY_WORDS = (
    "out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "can't allocate memory",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ended, by its class or, from libraries, by its words."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(w in str(error) for w in _OUT_OF_MEMORY_WORDS)


class StepEnd(TrainerCallback):  # type: ignore[misc]
    """Calls back at the end of each optimiser step; the answer True ends the training."""

    def __init__(self, ended: Callable[[], bool]) -> None:
        self._ended = ended

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **_: Any,
    ) -> TrainerControl:
        """Hand the step over and stop where that was the last one wanted."""
        if self._ended():
            control.should_training_stop = True
        return control


class TimedTrainer(Trainer):  # type: ignore[misc]
    """The Trainer as it is, fed with random batches that lie on the device. It marks where a step
    begins, has its batches, ends each of its passes, and ends itself."""

    def __init__(self, *, batches: RandomBatches, clock: Clock, **keywords: Any) -> None:
        super().__init__(**keywords)
        self._batches = batches
        self._clock = clock
        self._engine_is_marked = False

    def get_train_dataloader(self) -> RandomBatches:
        """The random batches; each rank has its own."""
        return self._batches

    def get_batch_samples(self, *arguments: Any, **keywords: Any) -> Any:
        """As the Trainer does, between two marks."""
        self._clock.clear()
        self._clock.mark("begin")
        samples = super().get_batch_samples(*arguments, **keywords)
        self._clock.mark("fetched")
        return samples

    def training_step(self, model: Any, inputs: Any, *arguments: Any, **keywords: Any) -> Any:
        """As the Trainer does; DeepSpeed's update lies inside its last pass and is cut off it."""
        if self.is_deepspeed_enabled and not self._engine_is_marked:
            self._mark_engine(self.deepspeed)
        self._update_began = False
        loss = super().training_step(model, inputs, *arguments, **keywords)
        if not self._update_began:
            self._clock.mark("pass")
        return loss

    def _mark_engine(self, engine: Any) -> None:
        step = engine.step

        def marked(*arguments: Any, **keywords: Any) -> Any:
            self._clock.mark("pass")
            self._update_began = True
            return step(*arguments, **keywords)

        engine.step = marked
        self._engine_is_marked = True
