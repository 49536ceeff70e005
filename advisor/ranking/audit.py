"""Holds each training time against what the hardware can physically do."""

from __future__ import annotations

from typing import Literal, NamedTuple

from bench_runner.typed_numbers import percent
from price_catalog.model import Gpu

Verdict = Literal["plausible", "doubtful", "implausible", "unchecked"]

IMPLAUSIBLE_MFU = 1.0
"""Above the peak: no training can be this fast."""
DOUBTFUL_MFU = 0.75
"""Hardly any training reaches this share of the dense peak; the best tuned ones stay near 0.6."""
SECONDS_PER_DAY = 86_400


class Audit(NamedTuple):
    """The share of the GPUs' peak that a time implies, and what to think of it."""

    implied_mfu: float | None
    """At the slowest time that the record allows (rounding, spread): the fairest reading."""
    implied_mfu_printed: float | None
    """At the time exactly as printed."""
    verdict: Verdict
    reason: str


class Peak(NamedTuple):
    """A dense rate in TFLOP/s per GPU, and what it is the peak of, in words."""

    tflops: float | None
    label: str


def dense_peak(gpu: Gpu, precision: str, *, naive: bool) -> Peak:
    """The dense peak with FP32 accumulate at which a recipe of this precision can run.

    An fp32 recipe runs its matrix products as TF32 only where the settings say so: naive settings
    leave torch's default, which keeps matrix products in FP32. A GPU older than Ampere has no TF32
    and uses FP32; where a newer one's TF32 rate is not known, neither is its peak.
    """
    if precision == "fp16":
        return Peak(tflops=gpu.fp16_tflops, label="fp16")
    if precision == "bf16":
        return Peak(tflops=gpu.bf16_tflops, label="bf16")
    if precision == "fp32":
        if not naive and _has_tf32(gpu):
            return Peak(tflops=gpu.tf32_tflops, label="TF32")
        return Peak(tflops=gpu.fp32_tflops, label="fp32")
    raise ValueError(f"precision '{precision}' is not one of fp16, bf16, fp32")


def _has_tf32(gpu: Gpu) -> bool:
    if gpu.tf32_tflops is not None:
        return True
    major = (gpu.compute_capability or "").partition(".")[0]
    # Without a compute capability (no NVIDIA part) nothing says that FP32 is all there is.
    return not major.isdigit() or int(major) >= 8


def audit_time(
    *,
    gpu: Gpu,
    gpu_count: int,
    precision: str,
    naive: bool,
    flops: float | None,
    training_days: float,
    training_days_high: float | None,
) -> Audit:
    """Judge one time. ``flops`` is the whole run's, the lowest defensible count.

    MFU = flops / (seconds x GPUs x dense peak), as in Chowdhery et al. 2022 (PaLM), appendix B.
    """
    peak = dense_peak(gpu, precision, naive=naive)
    if flops is None or peak.tflops is None:
        missing = "the model's FLOPs are" if flops is None else f"its {peak.label} peak is"
        return Audit(
            implied_mfu=None,
            implied_mfu_printed=None,
            verdict="unchecked",
            reason=f"not checked against the hardware: {missing} not known for {gpu.name}",
        )
    rate = gpu_count * peak.tflops * 1e12 * SECONDS_PER_DAY
    printed = flops / (training_days * rate)
    allowed = flops / (max(training_days, training_days_high or 0.0) * rate)
    hardware = f"{gpu_count} × {gpu.name} ({peak.tflops:g} TFLOP/s each, {peak.label} dense)"
    share = f"{percent(allowed)} of the peak of {hardware}"
    verdict: Verdict
    if allowed > IMPLAUSIBLE_MFU:
        verdict = "implausible"
        reason = f"implies {share}, even at the slow end of its rounding: physically impossible"
    elif allowed > DOUBTFUL_MFU:
        verdict = "doubtful"
        reason = f"implies {share}: hardly any training reaches {percent(DOUBTFUL_MFU)}"
    else:
        verdict = "plausible"
        reason = f"implies {share}"
    return Audit(implied_mfu=allowed, implied_mfu_printed=printed, verdict=verdict, reason=reason)
