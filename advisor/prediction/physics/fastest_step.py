"""How long an optimiser step takes with each setting, and with the fastest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.factors import (
    CHOICES,
    INDEX,
    TERMS,
    Rows,
    row_factors,
)
from advisor.prediction.physics.memory import Option
from advisor.prediction.physics.work_and_traffic import (
    busy_seconds,
    company_share,
    frozen_seconds,
    least_seconds,
    loop_seconds,
    pass_terms,
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
    between: Floats
    """What the network between several machines takes, and their waiting for each other."""


def fastest_step(
    columns: Columns,
    options: Sequence[Option],
    micro_batches: Sequence[Floats],
    factors: Sequence[float],
    *,
    naive: bool,
    own: bool = True,
) -> FastestStep:
    """The fastest option that fits, where its micro-batch is above 0. ``factors`` are the fitted
    logarithms; all options are lean, or none is; ``own``: whether our own program runs it."""
    import numpy as np

    values = np.exp(np.array(factors))
    work = _Work(columns, values, naive=naive, lean=options[0].lean, own=own)
    best = np.full(len(columns), np.inf)
    chosen = np.full(len(columns), -1)
    micro_batch_size = np.zeros(len(columns))
    exchanging, between = np.zeros((2, len(columns)))
    computing: dict[Option, Floats] = {}
    for number, (option, micro) in enumerate(zip(options, micro_batches, strict=True)):
        alike = replace(option, stage=min(option.stage, 1), checkpointing=False, offloading=False)
        if alike not in computing:
            computing[alike] = work.seconds(alike)
        seconds, exchange, lost = work.step(option, np.maximum(micro, 1.0), computing[alike])
        # A GPU without a datasheet rate has no seconds (NaN); that it fits is known all the same.
        better = (micro > 0) & ((seconds < best * AS_FAST) | (chosen < 0))
        np.copyto(best, seconds, where=better)
        np.copyto(micro_batch_size, micro, where=better)
        np.copyto(exchanging, exchange, where=better)
        np.copyto(between, lost, where=better)
        chosen[better] = number
    return FastestStep(
        best, chosen, micro_batch_size, work.company, work.products, exchanging, between
    )


class _Work:
    """What steps of these pairs have in common, whatever the option."""

    def __init__(
        self, columns: Columns, values: Floats, *, naive: bool, lean: bool, own: bool
    ) -> None:
        import numpy as np

        self.columns, self.values, self.own = columns, values, own
        flags = np.full(len(columns), True)
        self.factors = row_factors(values, Rows(columns, flags & naive, flags & own)).T
        self.terms = work_terms(columns, free_lunch=not naive, lean=lean)
        self.products = least_seconds(columns, self.terms, free_lunch=not naive)
        self.busy = busy_seconds(self.terms)
        self.company = self.busy * company_share(columns) * self.factors[_AT["company"]]

    def seconds(self, option: Option) -> Floats:
        """Computing every sample of a step once."""
        import numpy as np

        columns = self.columns
        terms = pass_terms(option, columns, self.terms)
        for choice in CHOICES:
            if self.own or not choice.ours:
                having, value = choice.of(option, columns), self.values[INDEX[choice.name]]
                if having.any():
                    terms[choice.term] = terms[choice.term] * np.where(having, value, 1.0)
        total: Floats = self.company.copy()
        for term, factor in zip(TERMS, self.factors, strict=True):
            if term in terms:
                total += terms[term] * factor
        return total

    def step(
        self, option: Option, micro: Floats, computing: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """A whole step with micro-batches of this size, and of it the exchange between GPUs and
        what several machines lose to their network."""
        columns = self.columns
        update, exchange, launches, offload = (
            self.factors[_AT[term]] for term in ("update", "exchange", "launches", "offload")
        )
        multiple = work_multiple(option)
        *shown, hosted, wire = traffic_terms(option, columns, micro, self.busy * multiple)
        exchanged: Floats = shown[1] * exchange
        seconds = computing * multiple + shown[0] * update + exchanged + shown[2] * launches
        if columns.expert_products.any():
            waits = loop_seconds(option, columns, micro)
            seconds += waits * multiple * self.factors[_AT["loops"]]
        if option.offloading:
            seconds += hosted * offload
        if columns.frozen.any():
            seconds += frozen_seconds(option, columns, micro)
        between: Floats = seconds * columns.wait + wire
        return seconds + between, exchanged, between
