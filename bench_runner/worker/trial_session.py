"""One trial from end to end: the climb to a micro-batch size, then the timed steps."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import torch
import torch.distributed as dist
from transformers import TrainingArguments

from bench_runner.launch.gpu_sampler import GpuSampler
from bench_runner.launch.trial import NoDeviceError, TrialSpec
from bench_runner.records import timing
from bench_runner.settings import batch_and_sharding, configure
from bench_runner.typed_numbers import percent
from bench_runner.worker import models
from bench_runner.worker.models import prepared_model
from bench_runner.worker.ranks import Ranks, shard_on_cpus, tell_deepspeed
from bench_runner.worker.step_times import Clock, StepLog
from bench_runner.worker.timed_trainer import StepEnd, TimedTrainer

Report = Callable[[dict[str, Any]], None]
_TIMED_PASSES = 3
_CLIMB_PASSES = 2
_SKIPPED_UPDATES = 30
"""So many updates may the loss scaler skip before a size is judged without one."""
_FINE, _SKIPPED, _OUT_OF_MEMORY = 0.0, 1.0, 2.0
"""What a rank says at the end of a step; the largest word counts."""


class Misfit(Exception):
    """Another rank ran out of memory at this micro-batch size."""


def use_once(device: torch.device) -> None:
    """Add two numbers there. Raises NoDeviceError where that fails: a driver that is too old or not
    loaded, a torch that was built for CPUs or other GPUs, one that another process has to itself.
    """
    try:
        torch.ones(1, device=device).add_(1).item()
    except Exception as error:
        said = str(error).strip().partition("\n")[0]
        raise NoDeviceError(
            f"torch {torch.__version__} cannot use GPU {device.index}, which nvidia-smi shows "
            f"({said}): see what python -c 'import torch; torch.ones(1).cuda()' says"
        ) from error


class Session:
    """What the phases of one trial share."""

    def __init__(self, spec: TrialSpec, report: Report) -> None:
        self.spec = spec
        self.report = report
        self.recipe = spec.recipe
        self.device = torch.device("cpu" if spec.device == "cpu" else "cuda")
        self.capability: tuple[int, int] | None = None
        if self.device.type == "cuda":
            use_once(torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))))
            self.capability = torch.cuda.get_device_capability()
        # Through TrainingArguments, so that the process group is the Trainer's own.
        self._arguments(micro_batch_size=1, passes=1, compiled=False)
        if configure.zero_stage(spec.settings) is not None:
            tell_deepspeed()
        if self.device.type == "cuda":
            self.device = torch.device("cuda", torch.cuda.current_device())
        self.ranks = Ranks(spec.exchange_timeout_s)
        self.memory = DeviceMemory(self.device)
        self.size = 1
        """The micro-batch size that is being tried."""
        self.rates: dict[int, float] = {}
        """Samples per second and GPU of each size that fitted, without compilation."""

    def _arguments(
        self, *, micro_batch_size: int, passes: int, compiled: bool
    ) -> TrainingArguments:
        keywords = configure.training_arguments(
            self.recipe,
            self.spec.settings,
            micro_batch_size=micro_batch_size,
            accumulation_steps=passes,
            device=self.spec.device,
            compute_capability=self.capability,
        )
        keywords["torch_compile"] = keywords["torch_compile"] and compiled
        return TrainingArguments(**keywords)

    def _full_passes(self, micro_batch_size: int) -> int:
        return batch_and_sharding.accumulation_steps(
            self.recipe.training.batch_size, self.spec.gpu_count, micro_batch_size
        )

    def _trainer(
        self,
        clock: Clock,
        *,
        micro_batch_size: int,
        passes: int,
        compiled: bool,
        ended: Callable[[], bool],
    ) -> TimedTrainer:
        # The arguments come first: with ZeRO-3 they make the model be built in shards.
        arguments = self._arguments(
            micro_batch_size=micro_batch_size, passes=passes, compiled=compiled
        )
        model = prepared_model(self.recipe, self.spec.settings, arguments, self._build_device())
        self.batches = models.RandomBatches(
            self.recipe,
            samples=self.recipe.training.batch_size // self.spec.gpu_count,
            passes=passes * arguments.max_steps,
            device=self.device,
            seed=self.ranks.rank,
        )
        self.batches.micro_batch_size = micro_batch_size
        trainer = TimedTrainer(
            batches=self.batches,
            clock=clock,
            model=model,
            args=arguments,
            callbacks=[StepEnd(ended)],
            optimizer_cls_and_kwargs=models.optimizer(self.recipe, self.device),
        )
        if self.device.type == "cpu" and configure.uses_fsdp(self.spec.settings):
            shard_on_cpus(trainer)
        return trainer

    def _build_device(self) -> torch.device:
        """Where the weights are drawn: on the device unless the whole model might not fit it."""
        if self.spec.settings.offloading and self.device.type == "cuda":
            return torch.device("cpu")
        return self.device

    def _skipped(self, trainer: TimedTrainer) -> bool:
        """Whether the loss scaler left the update out of the step that has just ended.

        The ranks meet here after each step; one that ran out of memory says so in its place.
        """
        word = _SKIPPED if trainer.accelerator.optimizer_step_was_skipped else _FINE
        worst = self.ranks.largest(word)
        if worst == _OUT_OF_MEMORY:
            raise Misfit(f"another rank ran out of memory at micro-batch {self.size}")
        return worst == _SKIPPED

    def tell_out_of_memory(self) -> None:
        """Meet the other ranks after an out-of-memory error; those that are stuck in the
        training's own exchange cannot come, and the launcher ends them."""
        try:
            self.ranks.largest(_OUT_OF_MEMORY)
        except RuntimeError as error:
            print(f"the other ranks did not answer: {error}", flush=True)

    @property
    def recovers(self) -> bool:
        """Whether this process can go on after running out of memory: nobody else waits for it
        and no library keeps state of its own."""
        return self.ranks.size == 1 and self.spec.settings.sharding is None

    def about(self) -> dict[str, Any]:
        """What this rank runs on and with, which only torch knows: devices, library builds,
        kernels, and what of the free lunch was served."""
        recipe, settings = self.recipe, self.spec.settings
        cuda = torch.cuda.is_available()
        on_gpu = self.device.type == "cuda"
        name = torch.cuda.get_device_name(self.device) if on_gpu else "cpu"
        return {
            "device": self.device.type,
            "devices": self.ranks.gather(name),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version() if cuda else None,
            "nccl": ".".join(map(str, torch.cuda.nccl.version())) if cuda else None,
            "backend": dist.get_backend() if dist.is_initialized() else None,
            "compilation": configure.compilation(recipe, settings),
            "weights": configure.half_type(recipe, settings) or "float32",
            "attention": models.attention_here(recipe, settings),
            "tf32": torch.backends.cuda.matmul.fp32_precision == "tf32",
            "missing_kernels": models.missing_kernels(recipe) if settings.free_lunch else [],
            "usable_memory_gib": self.memory.usable_gib,
            "capability": self.capability,
        }

    # -- the climb --------------------------------------------------------------------------

    def climb(self) -> int:
        """The micro-batch size to time; raises where not even the first fits."""
        spec = self.spec
        fastest = spec.climb == "fastest"
        sizes = [
            size
            for size in batch_and_sharding.micro_batch_sizes(
                self.recipe.training.batch_size, spec.gpu_count
            )
            if size >= (spec.settings.micro_batch_size or 1)
            and size <= (spec.largest_micro_batch or size)
        ]
        passes = min(_CLIMB_PASSES, self._full_passes(1))
        clock = Clock(self.device)
        peaks: list[float] = []
        steps: list[timing.RawSeconds] = []
        skipped = 0
        stopped_by = "the recipe's batch size"

        def ended() -> bool:
            nonlocal skipped, stopped_by
            clock.mark("end")
            steps.append(clock.step())
            if self._skipped(trainer) and skipped < _SKIPPED_UPDATES:
                # Without an update, the optimiser's states are not yet in memory.
                skipped += 1
                return False
            wanted = 2 if fastest else 1
            if len(steps) - (0 if self.rates else skipped) < wanted:
                return False
            last = steps[-1]
            pass_s = self.ranks.largest(min([*last.first_pass_s, *last.pass_s, *last.sync_pass_s]))
            peak = self.memory.peak_gib()
            if peak is not None:
                peak = self.ranks.largest(peak)
                peaks.append(peak)
            self.rates[self.size] = self.size / pass_s
            self.report(
                {
                    "event": "probe",
                    "micro_batch_size": self.size,
                    "fits": True,
                    "pass_s": pass_s,
                    "peak_memory_gib": peak,
                }
            )
            rest = [size for size in sizes if size > self.size]
            if not rest:
                return True
            if fastest:
                rates = tuple(self.rates.values())
                if len(rates) >= 2 and not timing.still_growing(rates, spec.growth):
                    stopped_by = f"throughput grew by less than {percent(spec.growth)}"
                    return True
                expected = predicted_peak_gib(tuple(self.rates), peaks, rest[0])
                usable = self.memory.usable_gib
                if expected is not None and usable is not None:
                    usable = -self.ranks.largest(-usable)
                    if expected > spec.headroom * usable:
                        stopped_by = (
                            f"micro-batch {rest[0]} is predicted to need {expected:.1f} GiB "
                            f"of {usable:.1f} GiB"
                        )
                        return True
            self.size = self.batches.micro_batch_size = rest[0]
            steps.clear()
            self.memory.reset_peak()
            return False

        self.size = sizes[0]
        self.report({"event": "phase", "phase": "climb"})
        trainer = self._trainer(
            clock, micro_batch_size=self.size, passes=passes, compiled=False, ended=ended
        )
        self.report({"event": "model", "parameters": models.parameter_count(trainer.model)})
        self._train(trainer)
        return self.climbed(stopped_by)

    def climbed(self, stopped_by: str) -> int:
        """End the climb with the sizes that fitted."""
        best = max(self.rates)
        if self.spec.climb == "fastest":
            best = timing.fastest_size(self.rates, self.spec.growth)
        self.report(
            {
                "event": "climbed",
                "micro_batch_size": best,
                "stopped_by": stopped_by,
                "samples_per_s": {str(size): rate for size, rate in self.rates.items()},
            }
        )
        return best

    def _train(self, trainer: TimedTrainer) -> None:
        """Train until the callback ends it, then take the trainer apart."""
        try:
            trainer.train()
        finally:
            if (engine := getattr(trainer, "deepspeed", None)) is not None:
                engine.destroy()
            trainer.accelerator.free_memory()
            for name in ("model", "optimizer", "lr_scheduler"):
                setattr(trainer, name, None)
                setattr(trainer.callback_handler, name, None)
            trainer.model_wrapped = trainer.deepspeed = None
            self.memory.release()

    # -- the timed steps --------------------------------------------------------------------

    def time_steps(self, micro_batch_size: int) -> None:
        """Warm up until steps settle, time them, and report every raw second."""
        spec = self.spec
        full = self._full_passes(micro_batch_size)
        passes = min(_TIMED_PASSES, full)
        clock = Clock(self.device)
        log = StepLog(spec, self.ranks)
        sampler = GpuSampler(self._device_uuid() if self.ranks.rank == 0 else None)

        def ended() -> bool:
            clock.mark("end")
            log.add(
                clock.step(), time.monotonic(), not self._skipped(trainer), self.memory.counts()
            )
            if log.settles():
                self.report({"event": "phase", "phase": "timing", "settled": log.settled_how})
            return log.is_enough()

        self.size = micro_batch_size
        self.report({"event": "phase", "phase": "warm-up", "micro_batch_size": micro_batch_size})
        trainer = self._trainer(
            clock, micro_batch_size=micro_batch_size, passes=passes, compiled=True, ended=ended
        )
        parameters = models.parameter_count(trainer.model)
        self.memory.reset_peak()
        sampler.start()
        try:
            self._train(trainer)
        finally:
            sampler.stop()
        if log.settled_at is None:
            raise ValueError(
                f"the training ended after {len(log.steps)} optimiser steps, before their times "
                "settled; let training_steps be at least 10 to measure it"
            )
        kept = log.kept()
        raw = log.raw_seconds(kept)
        step = timing.step_time(raw, full)
        # The slowest rank holds the others up, so its times are the group's.
        by_rank = self.ranks.gather((step.step_s, asdict(raw), self.memory.peak_gib()))
        slowest = max(range(len(by_rank)), key=lambda rank: by_rank[rank][0])
        peaks = [peak for _, _, peak in by_rank if peak is not None]
        self.report(
            {
                "event": "timed",
                "micro_batch_size": micro_batch_size,
                "accumulation_steps": full,
                "timed_passes": passes,
                "raw": by_rank[slowest][1],
                "slowest_rank": slowest,
                "step_s_by_rank": [row[0] for row in by_rank],
                "warm_up_s": [s.total_s for s in log.steps[: log.settled_at]],
                "settled": log.settled_how,
                "skipped_updates": log.usable.count(False),
                "peak_memory_gib": max(peaks, default=None),
                "peak_reserved_gib": self.memory.peak_reserved_gib(),
                "allocator_retries": log.allocations[-1][1] - log.allocations[log.settled_at][1],
                "parameters": parameters,
                "gpu": sampler.summary(log.ends_s[max(0, kept[0] - 1)], log.ends_s[kept[-1]]),
            }
        )

    def _device_uuid(self) -> str | None:
        if self.device.type != "cuda":
            return None
        return f"GPU-{torch.cuda.get_device_properties(self.device).uuid}"


GIB = 1024**3


class DeviceMemory:
    """The allocator's view of one device; a CPU has no peaks."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._cuda = device.type == "cuda"
        self.usable_gib: float | None = None
        """What is free of it or held by this process's allocator."""
        if self._cuda:
            torch.empty(1, device=device)
            free, _ = torch.cuda.mem_get_info(device)
            self.usable_gib = (free + torch.cuda.memory_reserved(device)) / GIB

    def reset_peak(self) -> None:
        """Begin a new peak."""
        if self._cuda:
            torch.cuda.reset_peak_memory_stats(self._device)

    def peak_gib(self) -> float | None:
        """The most that tensors held since the last reset."""
        return torch.cuda.max_memory_allocated(self._device) / GIB if self._cuda else None

    def peak_reserved_gib(self) -> float | None:
        """The most that the allocator held since the last reset."""
        return torch.cuda.max_memory_reserved(self._device) / GIB if self._cuda else None

    def counts(self) -> tuple[int, int]:
        """Allocations from the device, and retries after freeing the cache, since the start."""
        if not self._cuda:
            return (0, 0)
        stats = torch.cuda.memory_stats(self._device)
        return int(stats.get("num_device_alloc", 0)), int(stats.get("num_alloc_retries", 0))

    def release(self) -> None:
        """Give back what nothing refers to any more."""
        gc.collect()
        if self._cuda:
            torch.cuda.empty_cache()


def predicted_peak_gib(sizes: Sequence[int], peaks_gib: Sequence[float], size: int) -> float | None:
    """The peak at a micro-batch size by a straight line through the last two; None before that."""
    if len(sizes) < 2 or len(peaks_gib) < 2:
        return None
    slope = (peaks_gib[-1] - peaks_gib[-2]) / (sizes[-1] - sizes[-2])
    return peaks_gib[-1] + max(0.0, slope) * (size - sizes[-1])
