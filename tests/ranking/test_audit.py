import pytest

from advisor.ranking.audit import Audit, audit_time, dense_peak
from tests.facts_for_tests import make_gpu

DAY_OF_PEAK = 100e12 * 86_400
"""FLOPs that one test GPU can do in a day at its fp16 peak."""


def audit(
    days: float, high: float | None = None, flops: float | None = DAY_OF_PEAK, count: int = 1
) -> Audit:
    return audit_time(
        gpu=make_gpu(),
        gpu_count=count,
        precision="fp16",
        naive=False,
        flops=flops,
        training_days=days,
        training_days_high=high,
    )


@pytest.mark.parametrize(
    ("days", "verdict"),
    [(0.99, "implausible"), (1.0, "doubtful"), (1.33, "doubtful"), (1.34, "plausible")],
)
def test_verdicts_follow_the_share_of_the_peak(days: float, verdict: str) -> None:
    found = audit(days)
    assert found.verdict == verdict
    assert found.implied_mfu == pytest.approx(1 / days)


def test_rounding_is_allowed_for() -> None:
    found = audit(1, high=1.5)
    assert found.verdict == "plausible"
    assert found.implied_mfu == pytest.approx(1 / 1.5)
    assert found.implied_mfu_printed == pytest.approx(1)
    assert audit(10, high=10.5, flops=11 * DAY_OF_PEAK).verdict == "implausible"


def test_more_gpus_imply_less_of_each() -> None:
    assert audit(1, count=4).implied_mfu == pytest.approx(0.25)


def test_what_cannot_be_checked_is_said_to_be_unchecked() -> None:
    assert audit(1, flops=None).verdict == "unchecked"
    found = audit_time(
        gpu=make_gpu(fp16_tflops=None),
        gpu_count=1,
        precision="fp16",
        naive=False,
        flops=1e20,
        training_days=1,
        training_days_high=None,
    )
    assert found.verdict == "unchecked"
    assert found.implied_mfu is None


def test_the_peak_is_that_of_the_recipe_s_precision_and_settings() -> None:
    gpu = make_gpu(bf16_tflops=90.0)
    assert dense_peak(gpu, "fp16", naive=True).tflops == 100
    assert dense_peak(gpu, "bf16", naive=False).tflops == 90
    assert dense_peak(gpu, "fp32", naive=True).tflops == 30
    assert dense_peak(gpu, "fp32", naive=False).tflops == 50
    turing = make_gpu(tf32_tflops=None, compute_capability="7.5")
    assert dense_peak(turing, "fp32", naive=False).tflops == 30
    unknown = make_gpu(tf32_tflops=None, compute_capability="8.0")
    assert dense_peak(unknown, "fp32", naive=False).tflops is None
    with pytest.raises(ValueError, match="fp8"):
        dense_peak(gpu, "fp8", naive=False)
