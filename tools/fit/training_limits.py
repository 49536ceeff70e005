"""What a power limit costs a training: `TRAINING_DRAW`, from trainings under limits.

`evidence/power_limits.csv` holds how fast BERT and ResNet-50 trained on one card under a limit of
half of its watts or more, beside its highest limit. The fit, with each card left out, is printed by
`python -m tools.fit.training_limits`.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.prediction.physics.chip import TRAINING_DRAW, power_share
from bench_runner.typed_numbers import percent
from price_catalog.load import load_catalog
from price_catalog.model import Gpu
from tools.fit.public_speeds import EVIDENCE_FOLDER

TABLE = EVIDENCE_FOLDER / "power_limits.csv"
ALL_PRODUCTS = 1.0
"""The draw of a step that is matrix products alone."""
_TRIED = [share / 100 for share in range(30, 131)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited:
    """A training under a limit, as a share of its speed at the card's highest."""

    gpu: Gpu
    limit_w: float
    highest_w: float
    speed: float

    def off(self, draw: float) -> float:
        """Logarithm of the predicted share over the measured one."""
        limited, free = (power_share(self.gpu, w, draw) for w in (self.limit_w, self.highest_w))
        assert limited is not None
        assert free is not None
        return math.log(limited / free / self.speed)


def load_limited() -> list[Limited]:
    """The rows of the table; KeyError where the catalogue lacks a GPU."""
    gpus = {gpu.gpu_id: gpu for gpu in load_catalog().gpus}
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [
            Limited(
                gpu=gpus[row["gpu_id"]],
                limit_w=float(row["limit_w"]),
                highest_w=float(row["highest_w"]),
                speed=float(row["relative_speed"]),
            )
            for row in csv.DictReader(file)
        ]


def fitted_draw(rows: Sequence[Limited]) -> float:
    """The draw with the least squares of the logarithms, every card weighing alike."""
    names = sorted({row.gpu.name for row in rows})
    return min(
        _TRIED,
        key=lambda draw: sum(
            _error([r for r in rows if r.gpu.name == n], draw) ** 2 for n in names
        ),
    )


def cards_out(rows: Sequence[Limited]) -> dict[str, tuple[int, float, float, float, float]]:
    """Each card, predicted from the others: its rows, their draw, the root mean square of the
    logarithms, their mean, and the former where a training is taken for products alone."""
    found = {}
    for name in sorted({row.gpu.name for row in rows}):
        own = [row for row in rows if row.gpu.name == name]
        draw = fitted_draw([row for row in rows if row.gpu.name != name])
        bias = statistics.fmean(row.off(draw) for row in own)
        found[name] = len(own), draw, _error(own, draw), bias, _error(own, ALL_PRODUCTS)
    return found


def _error(rows: Sequence[Limited], draw: float) -> float:
    return math.sqrt(statistics.fmean(row.off(draw) ** 2 for row in rows))


def as_table() -> str:
    """The folds, as docs/prediction.md has them."""
    rows = load_limited()
    lines = [
        "| card left out | rows | draw | error | bias | error as products alone |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {count} | {draw:.2f} | {percent(error, 1)} | {bias:+.2f} "
        f"| {percent(products, 1)} |"
        for name, (count, draw, error, bias, products) in cards_out(rows).items()
    ]
    return "\n".join(
        [*lines, "", f"None left out: {fitted_draw(rows):.2f}; used: {TRAINING_DRAW}."]
    )


if __name__ == "__main__":
    print(as_table())
