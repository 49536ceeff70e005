"""Pairs of workloads and machines as columns of numbers, one row a pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip
from advisor.ranking.fabric import Link, kept_scaling
from bench_runner.recipes import PRECISIONS, TEXT_FAMILIES
from bench_runner.settings.paper_space import even_batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
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
    "plain_convnet": lambda w: w.family == "convnet" and not w.scan_elements,
    "plain_transformer": lambda w: w.family == "vit" and not w.unlike,
    "text": lambda w: w.family in TEXT_FAMILIES,
    "fuses_loss": lambda w: w.family in TEXT_FAMILIES and w.fuses_loss,
}
"""Columns that follow from a workload; others are its fields, or the chip's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What memory.py and step_terms.py compute with: fields of a workload and of a chip, and what
    follows from both. A rate that is not known is NaN."""

    count: Floats
    batch_size: Floats
    tokens: Floats
    parameters: Floats
    layers: Floats
    width: Floats
    logit_width: Floats
    linear_flops: Floats
    convolution_flops: Floats
    expert_flops: Floats
    expert_products: Floats
    unfilled_flops: Floats
    attention_flops: Floats
    layer_elements: Floats
    logit_elements: Floats
    score_elements: Floats
    expert_elements: Floats
    scan_elements: Floats
    normed_pixels: Floats
    grouped_elements: Floats
    copied_elements: Floats
    dropped_elements: Floats
    dropped_scores: Floats
    masked_share: Floats
    labelled: Floats
    frozen: Floats
    frozen_bytes: Floats
    adapter_elements: Floats
    half: Flags
    bf16: Flags
    causal: Flags
    fused: Flags
    always_fused: Flags
    opens: Flags
    layered: Flags
    compiles: Flags
    checkpoints: Flags
    convnet: Flags
    plain_transformer: Flags
    """A vision transformer without windows: no dropout, no rotated positions, no mask."""
    wide_scores: Flags
    """Attention's scores in FP32, where no fused kernel computes them."""
    plain_convnet: Flags
    """A convolutional network without depthwise convolutions: norms and activations between."""
    text: Flags
    """Whether it predicts words: a loss over a vocabulary."""
    fuses_loss: Flags
    """Whether that can be fused with the last linear layer."""
    half_rate: Flags
    large_cache: Flags
    tensor_memory: Flags
    memory_gib: Floats
    bandwidth: Floats
    """Bytes a second that kernels reach (`reached_bandwidth`)."""
    layer_bandwidth: Floats
    """The same for what one layer hands to the next: where a large cache holds much of it, as the
    clock of the chip goes."""
    peak: Floats
    """FLOP a second with free-lunch settings."""
    naive_peak: Floats
    fp32_peak: Floats
    """FLOP a second in FP32, at the clock that the power leaves."""
    load_rate: Floats
    """FLOP a second in FP32 of 64 lanes a multiprocessor, at the clock that the power leaves."""
    tap_rate: Floats
    """The same for the taps of depthwise convolutions, which the load units feed."""
    pcie: Floats
    """Bytes a second, one way; so are the links."""
    weight_bytes: Floats
    """Bytes of a weight or an activation: 2 in half precision, else 4."""
    share: Floats
    """Samples of each GPU in an optimiser step."""
    even_share: Floats
    """The same of a batch that the GPUs share evenly, about as large."""
    ring_s: Floats
    """Seconds to reduce one byte a parameter over all GPUs, scattered and gathered in a ring."""
    sweep_s: Floats
    """Seconds to read one byte a parameter from the GPU's memory."""
    wait: Floats
    """Share of a step that several machines lose to each other."""
    wire_s: Floats
    """Seconds that exchanging one byte a parameter between machines adds to a step."""

    @property
    def trained(self) -> Floats:
        """Parameters that have gradients."""
        return self.parameters - self.frozen

    def __len__(self) -> int:
        return len(self.count)


_TYPES: Mapping[Any, type] = {"Floats": float, "Flags": bool}


class WorkloadTable:
    """Workloads and chips as arrays, made once, to take columns of pairs from."""

    def __init__(self, workloads: Sequence[Workload], chips: Sequence[Chip]) -> None:
        import numpy as np

        def fields_of(items: Sequence[Workload] | Sequence[Chip], kind: type) -> dict[str, Any]:
            names = {each.name for each in fields(kind)} - _FLAGS.keys() - {"memory_gib"}
            return {
                each.name: np.array([getattr(item, each.name) for item in items], _TYPES[each.type])
                for each in fields(Columns)
                if each.name in names
            }

        self.of_workloads = fields_of(workloads, Workload) | {
            name: np.array([flag(item) for item in workloads], dtype=bool)
            for name, flag in _FLAGS.items()
        }
        self.precision = np.array([PRECISIONS.index(item.precision) for item in workloads])
        self.peaks, self.naive_peaks = (
            np.array(
                [[chip.peak_tflops(p, free_lunch=lunch) for p in PRECISIONS] for chip in chips],
                dtype=float,
            )
            * 1e12
            * np.array([[chip.reach] for chip in chips])
            for lunch in (True, False)
        )
        self.clock = np.array([chip.reach for chip in chips])
        self.layer_clock = np.array([chip.reach if chip.large_cache else 1.0 for chip in chips])
        self.of_chips = fields_of(chips, Chip)
        self.rates = np.array(
            [
                (
                    item.memory_gib,
                    item.bandwidth_gb_s,
                    item.pcie_gb_s,
                    item.group_gb_s,
                    item.load_tflops,
                    item.tap_tflops,
                    item.fp32_tflops,
                )
                for item in chips
            ],
            dtype=float,
        ).T

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

        rates = self.rates[:, chip_index]
        precision = self.precision[workload_index]
        named = {name: values[workload_index] for name, values in self.of_workloads.items()}
        named |= {name: values[chip_index] for name, values in self.of_chips.items()}
        count = counts.astype(float)
        batch, parameters = named["batch_size"], named["parameters"]
        load_rate = rates[4] * self.clock[chip_index] * 1e12
        bandwidth = reached_bandwidth(rates[1] * 1e9, load_rate)
        link = rates[3] * 1e9
        machines = np.ceil(count / GPUS_A_NODE) if network is None else count * 0.0 + network[0]
        between = kept_scaling()
        joint = PORT_EACH if network is None else network[1]
        cost = between.direct_cost if joint.direct else between.tcp_cost
        return Columns(
            count=count,
            memory_gib=rates[0],
            bandwidth=bandwidth,
            layer_bandwidth=bandwidth * self.layer_clock[chip_index],
            peak=self.peaks[chip_index, precision],
            naive_peak=self.naive_peaks[chip_index, precision],
            load_rate=load_rate,
            tap_rate=rates[5] * self.clock[chip_index] * 1e12,
            fp32_peak=rates[6] * self.clock[chip_index] * 1e12,
            pcie=rates[2] * 1e9,
            weight_bytes=np.where(named["half"], 2.0, 4.0),
            share=batch / count,
            even_share=_even_shares(batch, count),
            ring_s=2.0 * (count - 1.0) / count * parameters / link,
            sweep_s=parameters / bandwidth,
            wait=between.wait * np.log2(machines),
            wire_s=2.0 * cost * (1.0 - 1.0 / machines) * parameters * 8.0 / (joint.gbit * 1e9),
            **named,
        )


def reached_bandwidth(bandwidth: Floats, load_rate: Floats) -> Floats:
    """Bytes a second: no more than the memory has, nor than the multiprocessors fetch; less where
    the two are alike. For a chip with unknown multiprocessors, the memory's."""
    import numpy as np

    fetched = load_rate * (CLOCK_BYTES / CLOCK_FLOPS)
    squared = (bandwidth / fetched) ** 2
    missed = np.sqrt(np.sqrt(1.0 + squared * squared))
    result: Floats = bandwidth / np.where(np.isnan(fetched), 1.0, missed)
    return result


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
