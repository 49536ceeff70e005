"""How training slows down over several machines: the fit of `advisor.ranking.fabric`.

`python -m tools.fit.scaling` writes ranking/scaling.json; docs/scaling.md says how good it is.

A row of `evidence/nodes.csv` is one published pair: a speed on several machines and that on fewer
GPUs, for the same software and the same work a GPU. Their ratio is the loss of scaling. Every
software of a source counts alike, however many rows it has. How far a loss may be off is what it is
for sources that are left out, each whole. Needs scipy.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from advisor.files import write_whole
from advisor.ranking.fabric import KEPT, Link, Scaling
from tools.fit.public_speeds import EVIDENCE_FOLDER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_LOSS = 0.005
"""A loss that is smaller is printed as nothing: below it rows say no more than "hardly any"."""
BEYOND_LINEAR = 1.03
"""A pair whose GPUs are so much faster together changed more than their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One row of the evidence."""

    source_id: str
    software: str
    """Of sources that timed several (`dlperf-v1` has six)."""
    machines: int
    link: Link
    sent: float
    """Bytes of a step's exchange, both halves of a ring counted as one."""
    compute_s: float
    """Of a step, at the speed of the fewer GPUs."""
    loss: float
    """Measured: how many times as long as linear, less 1."""


def wire_s(sent: float, machines: int, link: Link) -> float:
    """Seconds on the wire at line rate where each step exchanges ``sent`` bytes."""
    return 2.0 * (machines - 1) / machines * sent * 8.0 / (link.gbit * 1e9)


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
                    software=row["model"].partition(" in ")[2],
                    machines=machines,
                    link=Link(gbit=float(row["node_gbit"]), direct=row["fabric"] != "ethernet"),
                    sent=int(row["parameters"]) * float(row["bytes_a_value"]) * rings,
                    compute_s=float(row["samples_a_gpu"]) / base,
                    loss=1.0 / efficiency - 1.0,
                )
            )
    return found


def fit_scaling(pairs: Sequence[Pair]) -> Scaling:
    """The fit, and how far it is off for each source when it has learned from the others (loads
    scipy)."""
    import numpy as np
    from scipy.stats import t

    rows = np.array(pairs, dtype=object)
    source_of = np.array([pair.source_id for pair in pairs])
    sources = sorted({*source_of})
    far = np.empty(len(pairs))
    for source in sources:
        held = source_of == source
        far[held] = _off_by(rows[held], _costs(rows[~held]))
    wait, direct_cost, tcp_cost = map(_digits, _costs(pairs))
    direct, tcp = (
        tuple(sorted({pair.link.gbit for pair in pairs if pair.link.direct == kind}))
        for kind in (True, False)
    )
    return Scaling(
        wait=wait,
        direct_cost=direct_cost,
        tcp_cost=tcp_cost,
        spread=_digits(math.sqrt(_weights(pairs) @ far**2)),
        t90=_digits(float(t.ppf(0.95, len(sources) - 1))),
        direct_gbit=direct,
        tcp_gbit=tcp,
        rows=len(pairs),
        sources=len(sources),
    )


def _costs(pairs: Sequence[Pair]) -> Floats:
    """Of waiting, of direct links and of TCP: the least weighted absolute error of the losses'
    logarithms."""
    import numpy as np
    from scipy.optimize import minimize

    start, weights = np.array([math.log(0.01), 0.0, 0.0]), _weights(pairs)

    def error(logs: Floats) -> float:
        # A weak prior: a share of a hundredth lost a doubling, a second shown a second on the wire.
        strayed = 0.01 * ((logs - start) ** 2).sum()
        return float(weights @ np.abs(_off_by(pairs, np.exp(logs))) + strayed)

    found = minimize(error, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    costs: Floats = np.exp(found.x)
    return costs


def _off_by(pairs: Sequence[Pair], costs: Floats) -> Floats:
    """The logarithm of each measured loss over the predicted one, as in `slowdown`."""
    import numpy as np

    wait, direct, tcp = costs
    losses = [
        wait * math.log2(pair.machines)
        + (direct if pair.link.direct else tcp)
        * (wire_s(pair.sent, pair.machines, pair.link) / pair.compute_s)
        for pair in pairs
    ]
    measured = np.maximum([pair.loss for pair in pairs], LEAST_LOSS)
    return np.log(measured) - np.log(np.maximum(losses, LEAST_LOSS))


def _weights(pairs: Sequence[Pair]) -> Floats:
    import numpy as np

    names = [(pair.source_id, pair.software, pair.link.direct) for pair in pairs]
    counts = Counter(names)
    return np.array([1.0 / (len(counts) * counts[name]) for name in names])


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


if __name__ == "__main__":
    write_whole(
        KEPT, json.dumps(asdict(fit_scaling(load_pairs())), indent=1) + "\n", overwrite=True
    )
