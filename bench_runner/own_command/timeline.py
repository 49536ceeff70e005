"""Where the time of a step goes, from a trace of torch's profiler in Chrome's format."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench_runner.own_command.kernel_kinds import (
    KINDS,
    PRODUCTS,
    UNKNOWN_PRODUCT,
    kernel_kind,
    operator_kind,
)

_ON_GPU = {"kernel", "gpu_memcpy", "gpu_memset"}
_ON_HOST = {"cpu_op", "user_annotation", "python_function"}
_WAITING = ("communication", "transfer")
"""What counts only where nothing is computed meanwhile."""
MOST_KERNELS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Seconds of one step by kind; on a GPU what it is busy with, then what it waits for."""

    seconds: Mapping[str, float]
    kernels: tuple[tuple[str, float], ...]
    """The names that take longest, with their seconds a step."""
    on_gpu: bool
    loads_serially: bool
    """Whether batches are loaded in the training's own process, while it waits."""


@dataclass(frozen=True, slots=True)
class _Span:
    start: float
    end: float
    kind: str


def read_trace(trace: Mapping[str, Any], steps: int, *, on_gpu: bool) -> Timeline:
    """What ``steps`` profiled steps did, of a training on a GPU its kernels. Raises ValueError
    where none were seen."""
    events = [e for e in trace.get("traceEvents", ()) if e.get("ph") == "X" and "dur" in e]
    gpu = [e for e in events if e.get("cat") in _ON_GPU]
    named: dict[str, float] = defaultdict(float)
    if on_gpu and not gpu:
        raise ValueError("the profiler saw no kernel of the GPU: its driver may not let it")
    if on_gpu:
        spans = [_span(e, _gpu_kind(e)) for e in gpu]
        data = [_span(e, "data") for e in events if _is_data(e)]
        found = _swept(spans, data)
        for event in gpu:
            named[str(event["name"])] += event["dur"]
    else:
        found, named = _innermost(events)
    if not found:
        raise ValueError("the profiler saw nothing of the training")
    scale = 1e-6 / steps
    seconds = {kind: found[kind] * scale for kind in KINDS if found.get(kind)}
    longest = sorted(named.items(), key=lambda item: -item[1])[:MOST_KERNELS]
    kernels = tuple((name, us * scale) for name, us in longest)
    return Timeline(
        seconds=_known_products(seconds, found, scale),
        kernels=kernels,
        on_gpu=on_gpu,
        loads_serially=any("_SingleProcess" in str(e["name"]) for e in events if _is_data(e)),
    )


def _known_products(
    seconds: dict[str, float], found: Mapping[str, float], scale: float
) -> dict[str, float]:
    """With products of no known precision among those of the commonest one."""
    unknown = found.get(UNKNOWN_PRODUCT, 0.0) * scale
    if unknown:
        usual = max(PRODUCTS, key=lambda p: seconds.get(p, 0.0))
        usual = usual if seconds.get(usual) else "bf16"
        seconds[usual] = seconds.get(usual, 0.0) + unknown
    return seconds


def _span(event: Mapping[str, Any], kind: str) -> _Span:
    return _Span(float(event["ts"]), float(event["ts"]) + float(event["dur"]), kind)


def _gpu_kind(event: Mapping[str, Any]) -> str:
    name = str(event["name"])
    if event["cat"] == "gpu_memcpy":
        return "memory" if "DtoD" in name else "transfer"
    return "memory" if event["cat"] == "gpu_memset" else kernel_kind(name)


def _is_data(event: Mapping[str, Any]) -> bool:
    return event.get("cat") in _ON_HOST and operator_kind(str(event["name"])) == "data"


def _swept(spans: Iterable[_Span], data: Iterable[_Span]) -> dict[str, float]:
    """Each moment from the first kernel to the last belongs to what is computed in it, shared
    evenly; else to what is sent or copied; else to the loading of data, or to the host."""
    edges = sorted(
        edge
        for span in (*spans, *data)
        for edge in ((span.start, 1, span.kind), (span.end, -1, span.kind))
    )
    active: Counter[str] = Counter()
    found: dict[str, float] = defaultdict(float)
    first = min(edge[0] for edge in edges if edge[2] != "data")
    last = max(edge[0] for edge in edges if edge[2] != "data")
    at = first
    for moment, change, kind in edges:
        until = min(max(moment, first), last)
        if until > at:
            busy = [k for k in active if active[k] > 0 and k != "data"]
            computing = [k for k in busy if k not in _WAITING] or busy
            computing = computing or ["data" if active["data"] > 0 else "host"]
            for each in computing:
                found[each] += (until - at) / len(computing)
            at = until
        active[kind] += change
    return found


def _innermost(events: Iterable[Mapping[str, Any]]) -> tuple[dict[str, float], dict[str, float]]:
    """Without a GPU: each moment of the training's thread belongs to the operator that runs."""
    host = [e for e in events if e.get("cat") in _ON_HOST]
    steps = [e for e in host if str(e["name"]).startswith("ProfilerStep#")]
    if not steps:
        return {}, {}
    thread = steps[0].get("tid")
    mine = sorted((e for e in host if e.get("tid") == thread), key=lambda e: (e["ts"], -e["dur"]))
    found: dict[str, float] = defaultdict(float)
    named: dict[str, float] = defaultdict(float)
    open_: list[tuple[float, str, str]] = []  # end, kind, name
    at = 0.0

    def until(moment: float) -> None:
        nonlocal at
        while open_ and at < moment:
            end, kind, name = open_[-1]
            found[kind] += max(0.0, min(end, moment) - at)
            named[name] += max(0.0, min(end, moment) - at)
            at = max(at, min(end, moment))
            if end <= moment:
                open_.pop()
        at = max(at, moment)

    for event in mine:
        start, name = float(event["ts"]), str(event["name"])
        until(start)
        within = open_[-1][1] if open_ else "host"
        kind = within if within in ("data", "communication") else operator_kind(name)
        open_.append((start + float(event["dur"]), kind, name))
    until(float("inf"))
    return found, {name: us for name, us in named.items() if name.startswith("aten::")}
