"""Small hand-made builds, times and prices, so that a test can say exactly what it ranks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from advisor.ranking.candidates import Candidates
from advisor.ranking.times import BestTime, Model, TrainingTime
from bench_runner.records.measurement import Settings
from price_catalog.builds import enumerate_builds
from price_catalog.model import Gpu, Host, Quote

PLAIN = Settings(
    free_lunch=True,
    activation_checkpointing=False,
    sharding=None,
    offloading=False,
    micro_batch_size=8,
    gradient_accumulation_steps=16,
)


def make_gpu(gpu_id: str = "card", **changes: object) -> Gpu:
    """A GPU with an fp16 peak of 100 TFLOP/s unless changed."""
    given: dict[str, object] = {
        "gpu_id": gpu_id,
        "name": gpu_id.upper(),
        "aliases": (),
        "vendor": "NVIDIA",
        "architecture": "Ampere",
        "compute_capability": "8.6",
        "launched_on": None,
        "form_factor": "PCIe",
        "memory_gib": 24.0,
        "memory_bandwidth_gb_s": 900.0,
        "fp32_tflops": 30.0,
        "tf32_tflops": 50.0,
        "fp16_tflops": 100.0,
        "bf16_tflops": 100.0,
        "fp8_tflops": None,
        "tdp_w": 350.0,
        "nvlink_gb_s": None,
        "field_sources": "made for a test",
        "note": None,
        "slot_width": 2,
        "cooling": "blower",
    }
    return Gpu(**(given | changes))  # type: ignore[arg-type]


def make_host(max_gpus: int, host_id: str | None = None) -> Host:
    """A host without a parts list that holds, cools and feeds any card."""
    name = host_id or f"host-{max_gpus}"
    return Host(
        host_id=name,
        name=name,
        kind="server",
        max_gpus=max_gpus,
        parts=(),
        takes=("passive", "blower", "open"),
        slot_width=4,
        max_gpu_w=1000.0,
        psu_w=20_000.0,
        memory_gib=64.0 * max_gpus,
    )


def make_quote(item_kind: str, item_id: str, usd: str, **changes: object) -> Quote:
    """A quote of 2026-01-02."""
    given: dict[str, object] = {
        "quote_id": f"{item_kind}-{item_id}-{usd}",
        "item_kind": item_kind,
        "item_id": item_id,
        "price_usd": Decimal(usd),
        "kind": "list",
        "vendor": "a shop",
        "quoted_on": date(2026, 1, 2),
        "source_id": "test",
        "url": None,
        "note": None,
        "price_set": None,
    }
    return Quote(**(given | changes))  # type: ignore[arg-type]


def make_time(gpu_id: str, count: int, days: float | None, **changes: object) -> TrainingTime:
    """A plausible published time, or one that does not fit where ``days`` is None."""
    given: dict[str, object] = {
        "measurement_id": f"{gpu_id}-{count}-{days}",
        "recipe_id": "tiny",
        "gpu_id": gpu_id,
        "gpu_count": count,
        "method": "optimal",
        "settings": None,
        "status": "infeasible" if days is None else "ok",
        "reason": None,
        "basis": "measured",
        "training_days": days,
        "training_days_low": None if days is None else max(days - 0.5, days / 2),
        "training_days_high": None if days is None else days + 0.5,
        "timing": "unsynchronised",
        "implied_mfu": None if days is None else 0.4,
        "implied_mfu_printed": None if days is None else 0.41,
        "verdict": None if days is None else "plausible",
        "verdict_reason": None if days is None else "implies 40% of the peak",
        "peak_memory_gib": None,
        "source_id": "test",
        "measured_on": date(2026, 1, 1),
        "origin": "shipped",
    }
    return TrainingTime(**(given | changes))  # type: ignore[arg-type]


def make_best(time: TrainingTime | None, gpu_id: str = "", count: int = 0) -> BestTime:
    """The given time stands for its build."""
    return BestTime(
        gpu_id=time.gpu_id if time else gpu_id,
        gpu_count=time.gpu_count if time else count,
        chosen=time,
        published=None,
        naive=None,
    )


def make_model() -> Model:
    """A model of 1e18 FLOPs."""
    return Model(
        recipe_id="tiny",
        name="Tiny",
        family="decoder",
        parameters=1_000_000,
        batch_size=8,
        training_steps=1000,
        sequence_length=128,
        image_size=None,
        precision="fp16",
        optimizer="Adam",
        flops_lowest=1e18,
        flops_full=1.1e18,
        recipe_hash="0",
        source_id="test",
        note=None,
        origin="shipped",
        compiles=True,
    )


def make_candidates(
    times: Sequence[TrainingTime],
    prices: dict[str, str],
    *,
    evidence: str = "sound",
    host_usd: str = "1000",
) -> Candidates:
    """Every GPU of ``prices`` in hosts for 1, 2, 4 and 8 of them, all hosts at one price."""
    gpu_ids = sorted({time.gpu_id for time in times} | set(prices))
    gpus = [make_gpu(gpu_id) for gpu_id in gpu_ids]
    hosts = [make_host(count) for count in (1, 2, 4, 8)]
    quotes = [make_quote("gpu", gpu_id, usd) for gpu_id, usd in prices.items()]
    quotes += [make_quote("host", host.host_id, host_usd) for host in hosts]
    book = {(quote.item_kind, quote.item_id): quote for quote in quotes}
    best = [make_best(time) for time in times]
    return Candidates(make_model(), enumerate_builds(gpus, hosts), best, book, evidence)
