"""Which packages a measurement needs, and which of them are missing here."""

from __future__ import annotations

import sys

from advisor.parse import InputError, install_words


def check_packages() -> None:
    """Raise InputError where this Python lacks what a measurement needs."""
    missing = missing_packages()
    if missing:
        raise InputError(
            f"a benchmark trains for real and needs {', '.join(missing)}; {install_words('bench')}"
        )


def missing_packages() -> list[str]:
    """What a measurement needs and this Python lacks; looks, and loads nothing."""
    from importlib.util import find_spec

    needed = [n for n in BENCH_PACKAGES if n != "deepspeed" or sys.platform == "linux"]
    return [name for name in needed if find_spec(name) is None]


BENCH_PACKAGES = ("torch", "transformers", "accelerate", "deepspeed", "timm")


KERNEL_PACKAGES = ("mamba_ssm", "causal_conv1d", "flash_attn")
