"""How long an optimiser step takes with each setting, and with the fastest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.factors import (
    INDEX,
    TERMS,
    Rows,
    lean_layers,
    not_compiled,
    row_factors,
    whole_attention,
)
from advisor.prediction.physics.memory import Option, kernels_written
from advisor.prediction.physics.step_terms import (
    busy_seconds,
    company_share,
    copied_seconds,
    dropout_seconds,
    expert_seconds,
    fused_attention,
    launch_seconds,
    least_seconds,
    loop_seconds,
    norm_seconds,
    opened,
    rounds_experts,
    score_seconds,
    traffic_terms,
    work_multiple,
    work_terms,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

AS_FAST = 1.0 - 1e-9
"""Smaller differences between two times do not count: processors round differently."""
_AT = {term: place for place, term in enumerate(TERMS)}


@dataclass(frozen=True, slots=True)
class FastestStep:
    """Of each pair of a model and a machine; seconds of one optimiser step."""

    seconds: Floats
    """Infinite where no option fits."""
    option: Whole
    """Which option is fastest; -1 where none fits."""
    micro_batch_size: Floats
    company: Floats
    """What several GPUs lose to each other, whatever the option."""
    products: Floats
    """What the matrix products alone take at the rate that they reach."""
    exchange: Floats
    """What the exchange between GPUs takes."""


def fastest_step(
    columns: Columns,
    options: Sequence[Option],
    micro_batches: Sequence[Floats],
    factors: Sequence[float],
    *,
    naive: bool,
) -> FastestStep:
    """The fastest option that fits, where its micro-batch is above 0. ``factors`` are the fitted
    logarithms; all options are lean, or none is."""
    import numpy as np

    work = _Work(columns, np.exp(np.array(factors)), naive=naive, lean=options[0].lean)
    best = np.full(len(columns), np.inf)
    chosen = np.full(len(columns), -1)
    micro_batch_size = np.zeros(len(columns))
    exchanging = np.zeros(len(columns))
    computing: dict[Option, Floats] = {}
    for number, (option, micro) in enumerate(zip(options, micro_batches, strict=True)):
        alike = replace(option, stage=min(option.stage, 1), checkpointing=False, offloading=False)
        if alike not in computing:
            computing[alike] = work.seconds(alike)
        seconds, exchange = work.step(option, np.maximum(micro, 1.0), computing[alike])
        # A GPU without a datasheet rate has no seconds (NaN); that it fits is known all the same.
        better = (micro > 0) & ((seconds < best * AS_FAST) | (chosen < 0))
        np.copyto(best, seconds, where=better)
        np.copyto(micro_batch_size, micro, where=better)
        np.copyto(exchanging, exchange, where=better)
        chosen[better] = number
    return FastestStep(best, chosen, micro_batch_size, work.company, work.products, exchanging)


class _Work:
    """What steps of these pairs have in common, whatever the option."""

    def __init__(self, columns: Columns, values: Floats, *, naive: bool, lean: bool) -> None:
        import numpy as np

        self.columns, self.values, self.naive = columns, values, naive
        flags = np.full(len(columns), True)
        self.factors = row_factors(values, Rows(columns, flags & naive, flags)).T
        self.terms = work_terms(columns, free_lunch=not naive, lean=lean)
        self.parts = [t * f for t, f in zip(self.terms, self.factors, strict=False)]
        self.products = least_seconds(columns, self.terms, free_lunch=not naive)
        self.busy = busy_seconds(self.terms)
        self.company = self.busy * company_share(columns) * self.factors[_AT["company"]]

    def seconds(self, option: Option) -> Floats:
        """Computing every sample of a step once."""
        import numpy as np

        columns, factors = self.columns, self.factors
        written = kernels_written(option, columns)
        total: Floats = sum(self.parts, self.company)
        total = total + self.parts[_AT["attention"]] * (
            whole_attention(option, columns) * (self._value("attention compiled whole") - 1.0)
        )
        is_open = opened(option, columns)
        total = total + np.where(is_open, score_seconds(columns) * factors[_AT["scores"]], 0.0)
        if not rounds_experts(option):
            total = total + expert_seconds(columns) * factors[_AT["experts"]]
        if columns.normed_pixels.any():
            norms = norm_seconds(columns) * factors[_AT["norms"]]
            total = total + np.where(written, 0.0, norms)
        if (columns.dropped_elements + columns.dropped_scores).any():
            kept_whole = fused_attention(columns, free_lunch=not self.naive) & ~is_open
            dropout = dropout_seconds(columns, kept_whole, written)
            total = total + dropout * factors[_AT["dropout"]]
        elementwise = self.parts[_AT["elementwise"]]
        if columns.copied_elements.any():
            copied, issued = (np.where(written, s, 0.0) for s in copied_seconds(columns))
            total = total - copied * factors[_AT["elementwise"]]
            total = total - issued * factors[_AT["issue"]]
            elementwise = elementwise - copied * factors[_AT["elementwise"]]
        if option.lean:
            total = total + (
                self.parts[_AT["logits"]]
                * (columns.fuses_loss * (self._value("fused logits") - 1.0))
                + elementwise * (lean_layers(columns) * (self._value("lean elementwise") - 1.0))
            )
        elif not self.naive:
            total = total + elementwise * (
                not_compiled(option, columns) * (self._value("elementwise of sharded") - 1.0)
            )
        return total

    def step(self, option: Option, micro: Floats, computing: Floats) -> tuple[Floats, Floats]:
        """A whole step with micro-batches of this size, and its exchange between GPUs."""
        import numpy as np

        columns = self.columns
        update, exchange, exposed, launches, offload = (
            self.factors[_AT[term]]
            for term in ("update", "exchange", "exposed", "launches", "offload")
        )
        multiple = work_multiple(option)
        *shown, hosted = traffic_terms(option, columns, micro, self.busy * multiple)
        seconds = computing * multiple
        exchanged: Floats = shown[1] * exchange + shown[2] * exposed
        seconds += shown[0] * update + exchanged
        seconds += shown[3] * launches
        if columns.expert_products.any():
            waits = loop_seconds(option, columns, micro)
            seconds += waits * multiple * self.factors[_AT["loops"]]
        if columns.launched_layers.any():
            waits = launch_seconds(columns, micro, self._unspared(option))
            waits = np.where(kernels_written(option, columns), waits, 0.0)
            seconds += waits * multiple * self.factors[_AT["waits"]]
        if option.offloading:
            seconds += hosted * offload
        return seconds, exchanged

    def _unspared(self, option: Option) -> Sequence[Floats]:
        """The terms less the copies that a compiler's kernels do not make."""
        import numpy as np

        terms = [*self.terms]
        written = kernels_written(option, self.columns)
        for term, copied in zip(
            ("elementwise", "issue"), copied_seconds(self.columns), strict=True
        ):
            terms[_AT[term]] = terms[_AT[term]] - np.where(written, copied, 0.0)
        return terms

    def _value(self, factor: str) -> Floats:
        value: Floats = self.values[INDEX[factor]]
        return value
