"""Reads a GPU's clock, power, temperature and energy from NVML while a trial runs."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
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
        self._rows: list[tuple[float, float, float, float]] = []
        self._joules: list[tuple[float, float]] = []
        self._slowed: list[tuple[float, bool]] = []
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
            handle = pynvml.nvmlDeviceGetHandleByUUID(self._uuid)
        except Exception:
            # A record without them is still a record.
            return
        counts = _counts_energy(pynvml, handle)
        while not self._stop.wait(self._every_s):
            # Some GPUs tell one and not another, and any may fail once.
            with suppress(Exception):
                self._rows.append(
                    (
                        time.monotonic(),
                        float(pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)),
                        pynvml.nvmlDeviceGetPowerUsage(handle) / 1000,
                        float(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU)),
                    )
                )
            with suppress(Exception):
                reasons = int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle))
                self._slowed.append((time.monotonic(), bool(reasons & _BY_HEAT)))
            if counts:
                with suppress(Exception):
                    joules = pynvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000
                    self._joules.append((time.monotonic(), joules))

    def summary(self, since_s: float, until_s: float) -> dict[str, float]:
        """Means between two readings of `time.monotonic`; {} where there are too few.

        NVML's power is the mean of the second before it is asked, so the first second is left out.
        ``slowed_by_heat``: in which share of the readings heat held the clock back, where it did.
        ``counted_w`` is what the GPU's own counter of energy (mJ, Volta and newer) grew by, over
        the seconds between its first and last reading; absent where the GPU has no counter.
        """
        rows = [row for row in self._rows if since_s + POWER_AVERAGED_S <= row[0] <= until_s]
        more = self._by_heat(since_s, until_s)
        if until_s - since_s >= POWER_AVERAGED_S:  # the counter moves in jumps, too
            more |= self._counted(since_s, until_s)
        if len(rows) < _FEWEST_SAMPLES:
            return more
        _, clock, power, temperature = (
            sum(column) / len(rows) for column in zip(*rows, strict=True)
        )
        return {
            "sm_clock_mhz": round(clock, 1),
            "power_w": round(power, 1),
            "temperature_c": round(temperature, 1),
            "samples": len(rows),
            "timed_s": round(until_s - since_s, 2),
            **more,
        }

    def _by_heat(self, since_s: float, until_s: float) -> dict[str, float]:
        read = [slow for at_s, slow in self._slowed if since_s <= at_s <= until_s]
        share = sum(read) / len(read) if len(read) >= _FEWEST_SAMPLES else 0.0
        return {"slowed_by_heat": round(share, 3)} if share else {}

    def _counted(self, since_s: float, until_s: float) -> dict[str, float]:
        read = [row for row in self._joules if since_s <= row[0] <= until_s]
        if len(read) < _FEWEST_SAMPLES:
            return {}
        (began_s, before), (ended_s, after) = read[0], read[-1]
        return {"counted_w": round((after - before) / (ended_s - began_s), 1)}


def _counts_energy(nvml: Any, handle: Any) -> bool:
    """Whether the GPU has a counter of energy."""
    try:
        nvml.nvmlDeviceGetTotalEnergyConsumption(handle)
    except Exception:
        return False  # NVML_ERROR_NOT_SUPPORTED before Volta; the library's own class of errors
    return True
