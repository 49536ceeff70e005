"""Pairs of workloads and machines as columns of numbers, one row a pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip
from advisor.ranking.fabric import Link, kept_scaling
from bench_runner.recipes import PRECISIONS, TEXT_FAMILIES
from bench_runner.settings.batch_and_sharding import even_batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

GPUS_A_NODE = 8
PORT_EACH = Link(gbit=GPUS_A_NODE * 400.0, direct=True)
"""Between machines of which nothing is said: a 400 Gbit/s port for each GPU, as in every record
with more than eight GPUs that the evidence holds."""
CLOCK_BYTES = 20.0
"""Bytes that a multiprocessor's kernels fetch in a clock, however fast the memory is, about: so
many are on their way at a time. The H200's memory is 1.43 times as fast as the H100's, with the
same multiprocessors, and the trainings that we measured on both are 1.08 times as fast in the
middle (tests/prediction/test_reached_bandwidth.py has the pairs)."""
CLOCK_FLOPS = 128.0
"""FLOP of `load_rate` that a multiprocessor has a clock."""

_FLAGS: Mapping[str, Callable[[Workload], bool]] = {
    "half": lambda w: w.precision != "fp32",
    "bf16": lambda w: w.precision == "bf16",
    "fused": lambda w: w.fused_attention,
    "convnet": lambda w: w.family == "convnet",
    # Without depthwise convolutions: norms and activations between.
    "plain_convnet": lambda w: w.family == "convnet" and not w.scan_elements,
    # Without windows: no dropout, no rotated positions, no mask.
    "plain_transformer": lambda w: w.family == "vit" and not w.unlike,
    # Which predicts words: a loss over a vocabulary.
    "text": lambda w: w.family in TEXT_FAMILIES,
    "fuses_loss": lambda w: w.family in TEXT_FAMILIES and w.fuses_loss,
}
"""Columns that follow from a workload."""


class Columns:
    """What memory.py and work_and_traffic.py compute with, one row a pair: numbers and flags of
    `Workload` by their names, `_FLAGS`, and what follows from both, a rate that is not known as
    NaN.

    Of the chip: `memory_gib`, `half_rate`, `large_cache`, `tensor_memory`. In bytes a second:
    `bandwidth` that kernels reach (`reached_bandwidth`), `layer_bandwidth` the same for what one
    layer hands to the next (where a large cache holds much of it, as the clock of the chip goes),
    `pcie` one way. In FLOP a second at the clock that the power leaves: `peak` with free-lunch
    settings, `naive_peak`, `fp32_peak`, `load_rate` of 64 lanes a multiprocessor in FP32,
    `tap_rate` the same for the taps of depthwise convolutions, which the load units feed.

    Of the training: `count` GPUs, `trained` parameters, `weight_bytes` of a weight or an activation
    (2 in half precision, else 4), `share` samples of each GPU in an optimiser step, `even_share`
    the same of a batch that the GPUs share evenly. In seconds for one byte a parameter: `ring_s` to
    reduce it over all GPUs, scattered and gathered in a ring, `sweep_s` to read it from the GPU's
    memory, `wire_s` what exchanging it between machines adds to a step. `wait` is the share of a
    step that several machines lose to each other.
    """

    def __init__(self, **columns: Any) -> None:
        self.__dict__.update(columns)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> NDArray[Any]: ...

    def __len__(self) -> int:
        return len(self.count)

    def replaced(self, **columns: Any) -> Columns:
        """With other values in some columns."""
        return Columns(**{**self.__dict__, **columns})


def _arrays(items: Sequence[Any], kind: type) -> dict[str, Any]:
    """The numbers and flags of a record by their names, one entry an item."""
    import numpy as np

    types = {"int": float, "float": float, "float | None": float, "bool": bool}
    return {
        each.name: np.array([getattr(item, each.name) for item in items], types[str(each.type)])
        for each in fields(kind)
        if each.type in types
    }


class WorkloadTable:
    """Workloads and chips as arrays, made once, to take columns of pairs from."""

    def __init__(self, workloads: Sequence[Workload], chips: Sequence[Chip]) -> None:
        import numpy as np

        self.workloads, self.chips = _arrays(workloads, Workload), _arrays(chips, Chip)
        for name, flag in _FLAGS.items():
            self.workloads[name] = np.array([flag(item) for item in workloads], dtype=bool)
        self.precision = np.array([PRECISIONS.index(item.precision) for item in workloads])
        self.peaks, self.naive_peaks = (
            np.array(
                [[chip.peak_tflops(p, free_lunch=lunch) for p in PRECISIONS] for chip in chips],
                dtype=float,
            )
            * 1e12
            * self.chips["reach"][:, None]
            for lunch in (True, False)
        )

    def columns(
        self,
        workload_index: Whole,
        chip_index: Whole,
        counts: Whole,
        network: tuple[int, Link] | None = None,
    ) -> Columns:
        """One row for each entry of the three index arrays. ``network``: how many machines share
        the GPUs, and what joins them; None: machines of eight, of which nothing is said."""
        import numpy as np

        named = {name: values[workload_index] for name, values in self.workloads.items()}
        chip = Columns(**{name: values[chip_index] for name, values in self.chips.items()})
        count, precision = counts.astype(float), self.precision[workload_index]
        batch, parameters = named["batch_size"], named["parameters"]
        load_rate = chip.load_tflops * chip.reach * 1e12
        bandwidth = reached_bandwidth(chip.bandwidth_gb_s * 1e9, load_rate)
        machines = np.ceil(count / GPUS_A_NODE) if network is None else count * 0.0 + network[0]
        between = kept_scaling()
        joint = PORT_EACH if network is None else network[1]
        cost = between.direct_cost if joint.direct else between.tcp_cost
        return Columns(
            **named,
            count=count,
            trained=parameters - named["frozen"],
            memory_gib=chip.memory_gib,
            half_rate=chip.half_rate,
            large_cache=chip.large_cache,
            tensor_memory=chip.tensor_memory,
            bandwidth=bandwidth,
            layer_bandwidth=bandwidth * np.where(chip.large_cache, chip.reach, 1.0),
            peak=self.peaks[chip_index, precision],
            naive_peak=self.naive_peaks[chip_index, precision],
            load_rate=load_rate,
            tap_rate=chip.tap_tflops * chip.reach * 1e12,
            fp32_peak=chip.fp32_tflops * chip.reach * 1e12,
            pcie=chip.pcie_gb_s * 1e9,
            weight_bytes=np.where(named["half"], 2.0, 4.0),
            share=batch / count,
            even_share=_even_shares(batch, count),
            ring_s=2.0 * (count - 1.0) / count * parameters / (chip.group_gb_s * 1e9),
            sweep_s=parameters / bandwidth,
            wait=between.wait * np.log2(machines),
            wire_s=2.0 * cost * (1.0 - 1.0 / machines) * parameters * 8.0 / (joint.gbit * 1e9),
        )


def reached_bandwidth(bandwidth: Floats, load_rate: Floats) -> Floats:
    """Bytes a second: no more than the memory has, nor than the multiprocessors fetch; less where
    the two are alike. For a chip with unknown multiprocessors, the memory's."""
    import numpy as np

    fetched = load_rate * (CLOCK_BYTES / CLOCK_FLOPS)
    squared = (bandwidth / fetched) ** 2
    missed = np.sqrt(np.sqrt(1.0 + squared * squared))
    return bandwidth / np.where(np.isnan(fetched), 1.0, missed)


def _even_shares(batch: Floats, count: Floats) -> Floats:
    """Of batches that no GPU goes without, in whole samples; of others what each would have."""
    import numpy as np

    shares: Floats = batch / count
    uneven = np.flatnonzero((batch % count != 0.0) & (shares >= 1.0))
    kept: dict[tuple[float, float], float] = {}
    for i in uneven:
        pair = (batch[i], count[i])
        if pair not in kept:
            kept[pair] = even_batch(int(batch[i]), int(count[i])) / count[i]
        shares[i] = kept[pair]
    return shares
