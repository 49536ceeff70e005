"""How much of a machine's memory and processors this process may use: its affinity and its groups.

A container or a batch job is given a part. What it takes beyond is killed (memory) or waits in turn
(more threads than processors), so the whole machine's figures would mislead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_UNLIMITED = 1 << 60
"""Version 1 writes a number near 2^63 where nothing is limited."""


def processors(root: Path = _ROOT, own: Path = _OWN) -> int:
    """How many processors' time it gets; 1 or more."""
    count = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0)) or count
    for folder in _groups("cpu", root, own):
        quota, period = _words(folder / "cpu.max", 2) or (
            *(_words(folder / "cpu.cfs_quota_us", 1) or ("max",)),
            *(_words(folder / "cpu.cfs_period_us", 1) or ("max",)),
        )
        if quota.isdecimal() and period.isdecimal() and int(period) > 0:
            count = min(count, max(1, round(int(quota) / int(period))))
    return count


def memory_bytes(root: Path = _ROOT, own: Path = _OWN) -> tuple[int, int] | None:
    """The most that it may take of memory, and how much of that is free; None without a limit."""
    found: list[tuple[int, int]] = []
    for folder in _groups("memory", root, own):
        for most, now in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            limit = _words(folder / most, 1)
            if limit is None or not limit[0].isdecimal() or int(limit[0]) >= _UNLIMITED:
                continue
            used = _words(folder / now, 1)
            taken = int(used[0]) if used and used[0].isdecimal() else 0
            free = int(limit[0]) - taken + _given_back(folder)
            found.append((int(limit[0]), max(0, min(free, int(limit[0])))))
    if not found:
        return None
    return min(most for most, _ in found), min(free for _, free in found)


def _groups(kind: str, root: Path, own: Path) -> Iterator[Path]:
    """The folders of the process's own group and of those above it, of version 2 and 1."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    seen = set()
    for line in lines:
        _, kinds, path = (*line.split(":", 2), "", "")[:3]
        if kinds and kind not in kinds.split(","):
            continue
        base = root / kinds if kinds else root
        place = base / path.lstrip("/")
        # In a container the path may be the host's, and the group's files lie at the root.
        for folder in (place, *place.parents):
            if folder not in seen and (folder == base or base in folder.parents):
                seen.add(folder)
                yield folder


def _words(file: Path, count: int) -> tuple[str, ...] | None:
    try:
        words = tuple(file.read_text().split())
    except (OSError, UnicodeDecodeError):
        return None
    return words if len(words) == count else None


def _given_back(folder: Path) -> int:
    """Bytes of files that are held in memory for later, and given up for whoever needs room."""
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return 0
    held = dict(line.split(" ", 1) for line in lines if " " in line)
    value = held.get("inactive_file", "0")
    return int(value) if value.isdecimal() else 0
