"""Which kind each kernel is, by names that profilers have shown; where a step's time goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_runner.own_command.kernel_kinds import kernel_kind
from bench_runner.own_command.timeline import Timeline, read_trace

ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("kernel_names.tsv").read_text().splitlines()
]


@pytest.mark.parametrize(("kind", "name"), ROWS, ids=[name[:40] for _, name in ROWS])
def test_a_kernel_is_sorted_by_its_name(kind: str, name: str) -> None:
    assert kernel_kind(name) == kind


def event(cat: str, name: str, start: int, length: int, tid: int = 1) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "ts": start, "dur": length, "tid": tid}


NAMES = {
    "kernel": ["nvjet_tst_1", "flash_fwd_kernel", "triton_poi_fused", "ncclDevKernel_AllReduce"],
    "gpu_memcpy": ["Memcpy HtoD (Pinned -> Device)"],
    "user_annotation": ["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"],
}
KIND = ["bf16", "attention", "memory", "communication", "transfer", "data"]
SPAN = st.tuples(st.sampled_from(range(6)), st.integers(0, 60), st.integers(1, 20))


@given(st.lists(SPAN, min_size=1, max_size=12))
def test_each_moment_is_counted_once_as_counting_them_one_by_one_does(
    spans: list[tuple[int, int, int]],
) -> None:
    flat = [(cat, name) for cat, names in NAMES.items() for name in names]
    if all(which == 5 for which, _, _ in spans):
        spans.append((0, 0, 1))
    trace = {"traceEvents": [event(*flat[which], start, dur) for which, start, dur in spans]}
    gpu = [(start, start + dur) for which, start, dur in spans if which != 5]
    wanted = dict.fromkeys([*KIND, "host"], 0.0)
    for at in range(min(start for start, _ in gpu), max(end for _, end in gpu)):
        here = {KIND[which] for which, start, dur in spans if start <= at < start + dur}
        computing = here & {"bf16", "attention", "memory"} or here & {"communication", "transfer"}
        for kind in computing or here & {"data"} or {"host"}:
            wanted[kind] += 1e-6 / len(computing or {kind})
    found = read_trace(trace, 1, on_gpu=True).seconds
    assert found == pytest.approx({kind: s for kind, s in wanted.items() if s})


def test_without_a_gpu_the_innermost_operator_counts() -> None:
    trace = [
        event("user_annotation", "ProfilerStep#3", 0, 100),
        event("user_annotation", "enumerate(DataLoader)#_x.__next__", 0, 20),
        event("cpu_op", "aten::stack", 5, 10),
        event("cpu_op", "aten::linear", 30, 40),
        event("cpu_op", "aten::addmm", 35, 30),
        event("cpu_op", "aten::gelu", 80, 10),
        event("cpu_op", "aten::mm", 0, 100, tid=2),
    ]
    found = read_trace({"traceEvents": trace}, 2, on_gpu=False)
    assert not found.on_gpu
    assert found.seconds == pytest.approx(
        {"data": 10e-6, "fp32": 20e-6, "memory": 5e-6, "host": 15e-6}
    )
    assert dict(found.kernels)["aten::addmm"] == pytest.approx(15e-6)


def test_products_of_no_known_precision_are_the_commonest() -> None:
    trace = [event("kernel", "triton_tem_fused_mm_1", 0, 10), event("kernel", "nvjet_hsh_1", 10, 5)]
    found: Timeline = read_trace({"traceEvents": trace}, 1, on_gpu=True)
    assert found.seconds == pytest.approx({"fp16": 15e-6})


@pytest.mark.parametrize("trace", [{}, {"traceEvents": [event("cpu_op", "aten::mm", 0, 1)]}])
@pytest.mark.parametrize("on_gpu", [False, True])
def test_a_profile_of_nothing_is_refused(trace: dict[str, Any], on_gpu: bool) -> None:
    with pytest.raises(ValueError, match="saw no"):
        read_trace(trace, 1, on_gpu=on_gpu)
