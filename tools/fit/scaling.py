"""How training slows down over several machines: the fit of `advisor.ranking.fabric`, and its page.

    python -m tools.fit.scaling                           writes ranking/scaling.json
    python -m tools.fit.scaling --out docs/scaling.md     the same, and the page

A row of `evidence/nodes.csv` is one published pair: a speed on several machines and that on fewer
GPUs, for the same software and the same work a GPU. Their ratio is the loss of scaling. Every
software of a source counts alike, however many rows it has. How far a loss may be off is what it is
for sources that are left out, each whole. Needs scipy.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from advisor.files import write_whole
from advisor.ranking.fabric import (
    FABRICS,
    KEPT,
    OCTAVE_SPREAD,
    Link,
    Scaling,
    Slowdown,
    fabric_words,
    link_of,
    slowdown,
    wire_s,
)
from bench_runner.typed_numbers import percent
from tools.fit.public_speeds import EVIDENCE_FOLDER

LEAST_LOSS = 0.005
"""A loss that is smaller is printed as nothing: below it rows say no more than "hardly any"."""
BEYOND_LINEAR = 1.03
"""A pair whose GPUs are so much faster together changed more than their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One row of the evidence."""

    source_id: str
    model: str
    gpu: str
    fabric: str
    """As the source says: ethernet (TCP), roce or infiniband."""
    machines: int
    link: Link
    sent: float
    """Bytes of a step's exchange, both halves of a ring counted as one."""
    compute_s: float
    """Of a step, at the speed of the fewer GPUs."""
    loss: float
    """Measured: how many times as long as linear, less 1."""
    note: str


def load_pairs() -> list[Pair]:
    """Every row that compares like with like."""
    found = []
    with (EVIDENCE_FOLDER / "nodes.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            machines = int(row["nodes"])
            gpus = machines * int(row["gpus_a_node"])
            base = float(row["base_speed"]) / int(row["base_gpus"])
            efficiency = float(row["speed"]) / gpus / base
            if efficiency > BEYOND_LINEAR:
                continue
            rings = 1.5 * int(row["passes"]) if row["exchange"] == "full-shard" else 1.0
            found.append(
                Pair(
                    source_id=row["source_id"],
                    model=row["model"],
                    gpu=row["gpu"],
                    fabric=row["fabric"],
                    machines=machines,
                    link=Link(gbit=float(row["node_gbit"]), direct=row["fabric"] != "ethernet"),
                    sent=int(row["parameters"]) * float(row["bytes_a_value"]) * rings,
                    compute_s=float(row["samples_a_gpu"]) / base,
                    loss=1.0 / efficiency - 1.0,
                    note=row["note"],
                )
            )
    return found


def fit_scaling(pairs: Sequence[Pair]) -> Scaling:
    """The fit, and how far it is off for each source when it has learned from the others."""
    from scipy.stats import t

    best = _middle(pairs)
    far: dict[int, float] = {}
    sources = sorted({pair.source_id for pair in pairs})
    for source in sources:
        others = _middle([pair for pair in pairs if pair.source_id != source])
        far |= {id(p): off_by(p, others) for p in pairs if p.source_id == source}
    weights = _weights(pairs)
    squares = sum(w * far[id(p)] ** 2 for p, w in zip(pairs, weights, strict=True))
    return replace(
        best,
        spread=_digits(math.sqrt(squares)),
        t90=_digits(float(t.ppf(0.95, len(sources) - 1))),
        direct_gbit=_speeds(pairs, direct=True),
        tcp_gbit=_speeds(pairs, direct=False),
        rows=len(pairs),
        sources=len(sources),
    )


def _middle(pairs: Sequence[Pair]) -> Scaling:
    """The least weighted absolute error of the losses' logarithms; no interval (loads scipy)."""
    import numpy as np
    from scipy.optimize import minimize

    weights = np.array(_weights(pairs))
    doublings = np.log2([pair.machines for pair in pairs])
    wires = np.array([wire_s(p.sent, p.machines, p.link) / p.compute_s for p in pairs])
    direct = np.array([pair.link.direct for pair in pairs])
    measured = np.log(np.maximum([pair.loss for pair in pairs], LEAST_LOSS))

    def error(logs: Sequence[float]) -> float:
        wait, of_direct, of_tcp = np.exp(logs)
        losses = wait * doublings + np.where(direct, of_direct, of_tcp) * wires  # as in `slowdown`
        far = float(weights @ np.abs(measured - np.log(np.maximum(losses, LEAST_LOSS))))
        # A weak prior: a share of a hundredth lost a doubling, a second shown a second on the wire.
        return far + 0.01 * sum(
            (a - b) ** 2 for a, b in zip(logs, (math.log(0.01), 0.0, 0.0), strict=True)
        )

    start = (math.log(0.01), 0.0, 0.0)
    found = minimize(error, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    wait, of_direct, of_tcp = (_digits(math.exp(float(value))) for value in found.x)
    return Scaling(
        wait=wait,
        direct_cost=of_direct,
        tcp_cost=of_tcp,
        spread=0.0,
        t90=0.0,
        direct_gbit=(),
        tcp_gbit=(),
        rows=0,
        sources=0,
    )


def off_by(pair: Pair, scaling: Scaling) -> float:
    """The logarithm of the measured loss over the predicted one."""
    predicted = expected(pair, scaling).middle - 1.0
    return math.log(max(pair.loss, LEAST_LOSS) / max(predicted, LEAST_LOSS))


def expected(pair: Pair, scaling: Scaling) -> Slowdown:
    """What a fit says of a row."""
    return slowdown(pair.compute_s, pair.sent, pair.machines, pair.link, scaling)


def _weights(pairs: Sequence[Pair]) -> list[float]:
    counts = Counter(_software(pair) for pair in pairs)
    return [1.0 / (len(counts) * counts[_software(pair)]) for pair in pairs]


def _software(pair: Pair) -> tuple[str, str, bool]:
    """``dlperf-v1`` has six."""
    return pair.source_id, pair.model.partition(" in ")[2], pair.link.direct


def _speeds(pairs: Sequence[Pair], *, direct: bool) -> tuple[float, ...]:
    return tuple(sorted({pair.link.gbit for pair in pairs if pair.link.direct == direct}))


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One row predicted by a fit that knew nothing like it."""

    pair: Pair
    slowdown: Slowdown

    @property
    def inside(self) -> bool:
        """Whether the interval holds it; a loss too small to print may be any small one."""
        measured = 1.0 + self.pair.loss
        return self.slowdown.low - LEAST_LOSS <= measured <= self.slowdown.high + LEAST_LOSS

    @property
    def error(self) -> float:
        """Of the time, as a share."""
        return abs(self.slowdown.middle / (1.0 + self.pair.loss) - 1.0)


def leave_out(pairs: Sequence[Pair], by: Callable[[Pair], str]) -> list[LeftOut]:
    """Each group predicted from all others."""
    found = []
    for group in sorted({by(pair) for pair in pairs}):
        scaling = fit_scaling([pair for pair in pairs if by(pair) != group])
        found += [
            LeftOut(pair=pair, slowdown=expected(pair, scaling))
            for pair in pairs
            if by(pair) == group
        ]
    return found


def _model_of(pair: Pair) -> str:
    return pair.model.partition(" in ")[0].partition(",")[0]


def page(pairs: Sequence[Pair], scaling: Scaling) -> str:
    """docs/scaling.md, whole."""
    by_source, by_model = leave_out(pairs, lambda p: p.source_id), leave_out(pairs, _model_of)
    tcp = f"{scaling.tcp_cost:.2g}"
    factor = math.exp(scaling.spread * scaling.t90)
    lines = [
        "# Over several machines",
        "",
        "Written by `python -m tools.fit.scaling --out docs/scaling.md` from "
        f"{scaling.rows} published pairs of {scaling.sources} sources "
        "(`tools/fit/evidence/nodes.csv`).",
        "",
        "N machines take 1/N of one machine's time, and then:",
        f"- {percent(scaling.wait, 1)} more for each doubling: machines wait for each other,",
        f"- {scaling.direct_cost:.2g} s (InfiniBand, RoCE) or {tcp} s (Ethernet by TCP) for each "
        "second that the exchange needs at line rate.",
        "",
        "The exchange is a ring all-reduce of the gradients; sharded weights are gathered as well. "
        f"For nine new sources in ten the loss is within a factor of {factor:.1f}: the loss, not "
        "the time. No time is faster than linear. A network of a speed that nobody measured has a "
        f"wider interval: each doubling away from the nearest counts as {OCTAVE_SPREAD:g} more in "
        f"the standard deviation of the loss's logarithm ({scaling.spread:.2f}). That is a "
        "judgement.",
        "",
        f"Measured by TCP at {_list(scaling.tcp_gbit)} Gbit/s a machine, with direct memory access "
        f"at {_list(scaling.direct_gbit)}. Not measured by anybody whom we found: Ethernet of 100 "
        "Gbit/s by TCP, sharded weights by TCP, any GPU younger than the RTX 3090 by TCP.",
        "",
        "## Left out and predicted",
        "",
        "| left out | pairs | median error of the time | 90th percentile | in the 90 % interval |",
        "|---|---|---|---|---|",
        _row("a source", by_source),
        _row("a model", by_model),
        _row("a source, TCP alone", [c for c in by_source if not c.pair.link.direct]),
        _row("a source, direct alone", [c for c in by_source if c.pair.link.direct]),
        _row("a source, two machines", [c for c in by_source if c.pair.machines == 2]),
        "",
        "| source | network, Gbit/s a machine | pairs | measured, times linear | predicted | "
        "median error | inside |",
        "|---|---|---|---|---|---|---|",
    ]
    for source in sorted({c.pair.source_id for c in by_source}):
        cases = [c for c in by_source if c.pair.source_id == source]
        for fabric in sorted({c.pair.fabric for c in cases}):
            group = [c for c in cases if c.pair.fabric == fabric]
            speeds = _list(sorted({c.pair.link.gbit for c in group}))
            lines.append(
                f"| {source} | {fabric} {speeds} | {len(group)} | "
                f"{_range([1 + c.pair.loss for c in group])} | "
                f"{_range([c.slowdown.middle for c in group])} | {percent(_median(group), 1)} | "
                f"{sum(c.inside for c in group)} |"
            )
    lines += [
        "",
        "## What it says",
        "",
        "Two machines, a step of one second each, gradients in single precision: times as long as "
        "linear, with the interval.",
        "",
        "| network | 160M parameters | 1B | 3B |",
        "|---|---|---|---|",
    ]
    for fabric in FABRICS:
        cells = []
        for parameters in (160e6, 1e9, 3e9):
            slow = slowdown(1.0, 4 * parameters, 2, link_of(fabric), scaling)
            cells.append(f"{slow.middle:.2f} ({slow.low:.2f}–{slow.high:.2f})")
        lines.append(f"| {fabric_words(fabric)} | {' | '.join(cells)} |")
    lines += [
        "",
        "What it leaves out: a micro-batch that becomes too small to fill a GPU when the batch is "
        "shared by twice as many, several ports a machine, a network that others use, and faults "
        "(a container's network, one slow link). One source here has such a fault (horovod-396). "
        "Two reports without a batch size are not among them: RoBERTa on two p3.16xlarge, 25 "
        "Gbit/s, takes 2.9 times as long as on one (NVIDIA/nccl#318), and BERT on two machines of "
        "four V100, 40 Gbit/s, 8 times as long a step (huggingface/transformers#3274). Measure "
        "before you buy a second machine.",
        "",
    ]
    return "\n".join(lines)


def _row(words: str, cases: Sequence[LeftOut]) -> str:
    errors = sorted(case.error for case in cases)
    ninth = errors[min(len(errors) - 1, math.ceil(0.9 * len(errors)) - 1)]
    inside = sum(case.inside for case in cases) / len(cases)
    figures = percent(_median(cases), 1), percent(ninth, 1), percent(inside)
    return f"| {words} | {len(cases)} | {' | '.join(figures)} |"


def _median(cases: Sequence[LeftOut]) -> float:
    errors = sorted(case.error for case in cases)
    return errors[len(errors) // 2]


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low}–{high}"


def _list(values: Sequence[float]) -> str:
    words = [f"{value:g}" for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def main() -> None:
    """Fit, keep the fit, and write the page where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="where the page goes")
    options = parser.parse_args()
    pairs = load_pairs()
    scaling = fit_scaling(pairs)
    write_whole(KEPT, json.dumps(asdict(scaling), indent=1) + "\n", overwrite=True)
    if options.out is not None:
        write_whole(options.out, page(pairs, scaling), overwrite=True)
    print(json.dumps(asdict(scaling)))


if __name__ == "__main__":
    main()
