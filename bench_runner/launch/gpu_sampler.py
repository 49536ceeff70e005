"""Reads a GPU's clock, power, temperature and energy from NVML while a trial runs."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from statistics import fmean
from typing import Any

_FEWEST_SAMPLES = 3
_BY_HEAT = 0x20 | 0x40
"""NVML's nvmlClocksEventReasonSwThermalSlowdown and HwThermalSlowdown."""
POWER_AVERAGED_S = 1.0
"""NVML documents its power as the mean over a second on Ampere (GA100 apart) and newer."""


class GpuSampler:
    """Reads one GPU's clock, power, temperature and energy counter from NVML while a trial runs."""

    def __init__(self, uuid: str | None, every_s: float = 0.2) -> None:
        self._uuid = uuid
        self._every_s = every_s
        self._stop = threading.Event()
        self._read: dict[str, list[tuple[float, float]]] = defaultdict(list)
        """When each was read, and what."""
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to read; nothing happens where there is no GPU to read from."""
        if self._uuid is not None:
            self._thread.start()

    def stop(self) -> None:
        """End reading."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def _run(self) -> None:
        try:
            import pynvml  # only a machine with NVIDIA GPUs has a use for it

            pynvml.nvmlInit()
            gpu = pynvml.nvmlDeviceGetHandleByUUID(self._uuid)
        except Exception:
            # A record without them is still a record.
            return
        nvml: Any = pynvml
        reads: dict[str, Callable[[], float]] = {
            "sm_clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_SM),
            "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(gpu) / 1000,
            "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU),
            "slowed": lambda: bool(
                int(nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu)) & _BY_HEAT
            ),
            # Volta and newer have a counter.
            "joules": lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1000,
        }
        while not self._stop.wait(self._every_s):
            for name, read in reads.items():
                # Some GPUs report one and not another, and any may fail once.
                with suppress(Exception):
                    self._read[name].append((time.monotonic(), float(read())))

    def summary(self, since_s: float, until_s: float) -> dict[str, float]:
        """Means between two readings of `time.monotonic`; {} where there are too few.

        NVML's power is the mean of the second before it is asked, so the first second is left out.
        ``slowed_by_heat``: in which share of the readings heat held the clock back, where it did.
        ``counted_w`` is what the GPU's own counter of energy (mJ) grew by, over the seconds between
        its first and last reading; absent where the GPU has no counter.
        """

        def within(name: str, from_s: float) -> list[tuple[float, float]]:
            found = [row for row in self._read[name] if from_s <= row[0] <= until_s]
            return found if len(found) >= _FEWEST_SAMPLES else []

        found: dict[str, float] = {}
        for name in ("sm_clock_mhz", "power_w", "temperature_c"):
            if rows := within(name, since_s + POWER_AVERAGED_S):
                found[name] = round(fmean(value for _, value in rows), 1)
                found |= {"samples": len(rows), "timed_s": round(until_s - since_s, 2)}
        slowed = within("slowed", since_s)
        if any(value for _, value in slowed):
            found["slowed_by_heat"] = round(fmean(value for _, value in slowed), 3)
        joules = within("joules", since_s)
        if joules and until_s - since_s >= POWER_AVERAGED_S:  # the counter moves in jumps, too
            (began_s, before), (ended_s, after) = joules[0], joules[-1]
            found["counted_w"] = round((after - before) / (ended_s - began_s), 1)
        return found
