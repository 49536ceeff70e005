"""Machines that the lab owns already."""

from __future__ import annotations

import re

from advisor.parse import InputError, shown
from price_catalog.gpu_names import find_gpu, index_gpus
from price_catalog.model import Gpu, Host

MAX_OWNED = 64


def own_machine(text: str, gpus: tuple[Gpu, ...]) -> Host:
    """A machine that the user has, from ``2 x A6000``. Raises InputError."""
    match = re.fullmatch(r"\s*(\d{1,3})\s*[x×*]\s*(\S.*?)\s*", text, re.ASCII | re.IGNORECASE)
    if match is None or not 1 <= int(match[1]) <= MAX_OWNED:
        raise InputError(f"{shown(text)} is no machine: write it like 2 x A6000")
    try:
        gpu = find_gpu(match[2], index_gpus(gpus))
    except ValueError as error:
        raise InputError(str(error)) from None
    count = int(match[1])
    return Host(
        host_id=f"own:{count}x{gpu.gpu_id}",
        name=f"your {count} × {gpu.name}",
        kind="owned",
        max_gpus=count,
        parts=(),
        gpu_id=gpu.gpu_id,
        origin="local",
    )
