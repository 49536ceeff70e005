"""What the catalogue's text tables say, one frozen dataclass a kind of row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Who says so, and how they know. Every fact in the store names one of these."""

    source_id: str
    title: str
    url: str | None
    how_measured: str
    """In words: what was done to obtain the figures, and what is known to be wrong with them."""
    licence: str | None
    published_on: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU as its maker specifies it. Rates are dense (no sparsity), with FP32 accumulate."""

    gpu_id: str
    """Stable and lower case, e.g. ``a100-sxm4-80gb``."""
    name: str
    """What a person calls it, e.g. ``A100``; unique."""
    aliases: tuple[str, ...]
    """Other spellings, those of nvidia-smi and torch among them, e.g. ``NVIDIA A100-SXM4-80GB``."""
    vendor: str
    architecture: str | None
    compute_capability: str | None
    launched_on: date | None
    form_factor: str
    memory_gib: float
    """As sold; the driver shows a little less."""
    memory_bandwidth_gb_s: float | None
    fp32_tflops: float | None
    tf32_tflops: float | None
    fp16_tflops: float | None
    bf16_tflops: float | None
    fp8_tflops: float | None
    tdp_w: float | None
    nvlink_gb_s: float | None
    field_sources: str
    """Which source each figure comes from, ``field=source_id`` separated by semicolons; what the
    source itself cites may follow the id in brackets."""
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One line of a host's parts list."""

    role: str
    detail: str
    price_usd: Decimal
    priced_on: date
    source_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A machine without its GPUs, which takes exactly ``max_gpus`` of them."""

    host_id: str
    name: str
    kind: str
    """``desktop`` or ``server``."""
    max_gpus: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What somebody asked for one item on one day."""

    quote_id: str
    item_kind: str
    """``gpu`` or ``host``."""
    item_id: str
    price_usd: Decimal
    kind: str
    """``reseller-quote``, ``list``, ``street``, ``used``, ``secondary`` (told by somebody who does
    not sell it), ``parts-list`` or ``rounded``."""
    vendor: str
    quoted_on: date
    source_id: str
    url: str | None
    note: str | None
    price_set: str | None
    """``paper`` for the figures that the paper's section 4.1 computes with; else None."""
