"""What a GPU offers a training step, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from price_catalog.model import Gpu

_SWITCHED_FORMS = ("SXM", "OAM", "superchip")
"""Form factors whose servers join every GPU with every other one."""

_PCIE_GB_S = {
    "Volta": 12.0,
    "Turing": 12.0,
    "Ampere": 24.0,
    "Ada Lovelace": 24.0,
    "Hopper": 48.0,
    "Blackwell": 48.0,
    "Blackwell Ultra": 48.0,
    "Blackwell 2.0": 48.0,
    "CDNA 2.0": 24.0,
    "CDNA 3.0": 48.0,
    "CDNA 4.0": 48.0,
    "RDNA 3.0": 24.0,
}
"""What a copy over 16 lanes reaches one way: PCIe 3.0, 4.0 or 5.0, some three quarters of the rate
that the standard names."""
_OLDEST_PCIE_GB_S = 12.0
"""For an architecture that the catalogue does not name: the slowest of the above, so that nothing
is promised that the bus might not keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One GPU and its place in a machine. Rates are dense, with FP32 accumulate."""

    gpu_id: str
    name: str
    memory_gib: float
    bandwidth_gb_s: float | None
    tdp_w: float | None
    fp32_tflops: float | None
    tf32_tflops: float | None
    fp16_tflops: float | None
    bf16_tflops: float | None
    load_tflops: float | None
    """The FP32 peak of 64 lanes a multiprocessor: how fast loads are issued. Newer ones have 128
    lanes, but as many load units as ever."""
    tap_tflops: float | None
    """How fast taps of a depthwise convolution are fed: `load_tflops`, of which chips with half the
    load units a multiprocessor have half."""
    pcie_gb_s: float
    group_gb_s: float
    """What each of several GPUs exchanges at best, one way. Bridges between pairs of cards on a bus
    are bought apart: none is assumed."""
    switched: bool
    """Whether a switch joins all GPUs (SXM, OAM), else PCIe."""
    measured_vendor: bool
    """Whether any GPU of this maker is in the evidence."""
    generation: str
    """Its compute capability, else its architecture: chips of one kind of multiprocessor."""
    reach: float
    """Share of the dense peak that large matrix products reach, relative to NVIDIA's: of these,
    by the clock that the power limit leaves. It holds for whatever else follows the clock."""
    half_rate: bool
    """Whether its maker halves the rate of FP32 accumulation (GeForce): what is left is reached."""
    large_cache: bool
    """Whether its second cache holds what one layer hands to the next (64 MB and more: Ada and
    Blackwell), so that a part of that traffic never leaves the chip, and goes at its clock."""
    tensor_memory: bool
    """Whether its matrix units are fed asynchronously (Hopper and the large Blackwell): attention
    kernels keep fewer of them busy."""

    def peak_tflops(self, precision: str, *, free_lunch: bool) -> float | None:
        """The dense peak of the units that a recipe of this precision uses, None: not known."""
        if precision == "fp16":
            return self.fp16_tflops
        if precision == "bf16":
            return self.bf16_tflops
        return self.tf32_tflops if free_lunch else self.fp32_tflops


def chip_of(gpu: Gpu) -> Chip:
    """A GPU of the catalogue as prediction sees it."""
    pcie = _PCIE_GB_S.get(gpu.architecture or "", _OLDEST_PCIE_GB_S)
    switched = any(form in gpu.form_factor for form in _SWITCHED_FORMS)
    capability, load = gpu.compute_capability or "", gpu.fp32_tflops
    generation = capability or gpu.architecture or gpu.name
    if load is not None and (generation in _WIDE or (capability and float(capability) >= 9.0)):
        load /= 2
    tf32 = gpu.tf32_tflops
    if tf32 is None and gpu.vendor == "NVIDIA" and gpu.bf16_tflops is not None:
        # Tensor cores that know BF16 run TF32 at half its rate (NVIDIA's Ampere white paper), as
        # in every row of the catalogue that has both.
        tf32 = gpu.bf16_tflops / 2
    if tf32 is None and capability.partition(".")[0] in ("7", "6"):
        tf32 = gpu.fp32_tflops  # older tensor cores know no TF32: settings that ask for it get FP32
    # NVLink figures count both ways; of one way, collectives reach some three quarters.
    linked = None if gpu.nvlink_gb_s is None else gpu.nvlink_gb_s / 2 * 0.75
    if switched:
        group = linked or pcie
    elif "consumer" not in gpu.form_factor:
        group = pcie * PEER_SHARE
    else:
        # GeForce cards' drivers refuse peer access since Turing: staged in host memory, in and out,
        # by several GPUs at once.
        group = pcie / 4
    return Chip(
        gpu_id=gpu.gpu_id,
        name=gpu.name,
        memory_gib=gpu.memory_gib,
        bandwidth_gb_s=gpu.memory_bandwidth_gb_s,
        tdp_w=gpu.tdp_w,
        fp32_tflops=gpu.fp32_tflops,
        tf32_tflops=tf32,
        fp16_tflops=gpu.fp16_tflops,
        bf16_tflops=gpu.bf16_tflops,
        load_tflops=load,
        tap_tflops=load / 2 if load is not None and generation in _FEW_LOAD_UNITS else load,
        pcie_gb_s=pcie,
        group_gb_s=group,
        switched=switched,
        measured_vendor=gpu.vendor == "NVIDIA",
        generation=_ALIKE.get(generation, generation),
        reach=_reach(gpu),
        half_rate=gpu.vendor == "NVIDIA" and "consumer" in gpu.form_factor,
        large_cache=capability in _LARGE_CACHE,
        tensor_memory=capability.partition(".")[0] in ("9", "10")
        or (gpu.compute_capability is None and "superchip" in gpu.form_factor),
    )


_ALIKE = {"10.3": "10.0"}
"""Blackwell Ultra's multiprocessor differs from Blackwell's in 4-bit products and exponentials,
and in fewer FP64 units (NVIDIA's Blackwell Ultra data sheet); a training in half precision asks
for none of these."""
_REACH = {"CDNA 3.0": 0.67, "CDNA 4.0": 0.77}
"""Measured maxima over the dense peaks (668 of 1,300 TFLOP/s on MI300X, 785 on MI325X, 1,565 of
2,500 on MI355X) over that of an A100, H100 and B200 (0.87, 0.80, 0.78): stas00/ml-engineering."""
_TFLOP_A_JOULE = {
    "7.0": 0.36,
    "7.5": 0.55,
    "8.0": 0.9,
    "8.6": 0.5,
    "8.9": 0.9,
    "9.0": 1.35,
    "10.0": 1.9,
    "10.3": 1.9,
    "12.0": 0.8,
}
"""What matrix products in half precision reach for a watt where the power limit holds them back,
by compute capability: what makes `power_share` with a draw of 1 give the most that one program saw
of square products on cards of each, the middle where there are several
(zzc0721/torch-performance-test-data, 9d82827):
95 TFLOP/s on a V100 (300 W), 42 and 59 on T4 (70 W) and T10 (150 W), 265 and 234 on A100 (400 and
250 W), 123 and 65 on RTX A6000 (300 W) and A4000 (140 W), 269 and 71 on L40S (350 W) and L4 (72 W),
797 and 496 on H100 (700 and 350 W), 1,696 on B200 (1,000 W), 418 on RTX PRO 6000 (600 W). No
training speed went into it. 10.3 is taken to be as 10.0."""
_HALVED = ("L40",)
"""Whose products their maker lists at half the rate of the same chip on other boards: its clock
falls as theirs does."""
_SHARPNESS = 4.0
"""How suddenly the power limit takes over from the peak: a p-norm, in which both matter between."""
TRAINING_DRAW = 0.77
"""What a training step draws at a clock, relative to matrix products alone, which draw most: a
limit slows training less. Fitted to trainings under limits (`tools/fit/training_limits.py`)."""
_PRODUCTS_DRAW = 1.0
FULL_BOARD_W = {"A100": 400.0, "H100": 700.0, "V100": 300.0, "RTX PRO 6000 Blackwell": 600.0}
"""Chips that are sold on boards of several watts, and what the largest may draw (their makers'
data sheets, as in the catalogue). What another chip does in training follows best from what
matrix products reach on it, as its ratio to other cards shows when it is left out; what fewer watts
cost one and the same chip follows from trainings under limits."""


def _reach(gpu: Gpu) -> float:
    """Share of the dense peak that is in reach of a training, by the clock that the power limit
    leaves to it."""
    measured = _REACH.get(gpu.architecture or "")
    if measured is not None:
        return measured
    full_w = FULL_BOARD_W.get(chip_family(gpu.name), gpu.tdp_w)
    products = power_share(gpu, full_w, _PRODUCTS_DRAW)
    whole, left = power_share(gpu, full_w), power_share(gpu, gpu.tdp_w)
    if products is None or whole is None or left is None:
        return 1.0
    return products * left / whole


def power_share(gpu: Gpu, watts: float | None, draw: float = TRAINING_DRAW) -> float | None:
    """Share of the dense half-precision peak that a limit of ``watts`` leaves to a step that
    draws a share ``draw`` of what matrix products do; None where a rate is not known."""
    peak, watt = gpu.fp16_tflops, _TFLOP_A_JOULE.get(gpu.compute_capability or "")
    if watt is None and "superchip" in gpu.form_factor:
        watt = _TFLOP_A_JOULE["9.0"]
    if peak is None or watts is None or watt is None:
        return None
    if gpu.name in _HALVED:
        peak *= 2.0
    wanted = draw * peak / (watt * watts)
    share: float = (1.0 + wanted**_SHARPNESS) ** (-1.0 / _SHARPNESS)
    return share


_LARGE_CACHE = ("8.9", "10.0", "10.3", "12.0")
"""Compute capabilities with 48 to 128 MB of second cache at a gigabyte or so of activations a
layer; A100 and H100 have 40 and 50 MB in two halves, older ones 6 (NVIDIA's white papers)."""
PEER_SHARE = 0.45
"""Share of the bus that each GPU's ring reaches where GPUs write to each other's memory over PCIe:
19.9 GiB/s (21.4 GB/s) on eight RTX PRO 6000 Server, 21.0 to 22.1 on four, with PCIe 5.0
(kenhanabusa/blackwell-power-limit-bench, 60184ff)."""


_WIDE = ("8.6", "8.7", "8.9", "CDNA 3.0", "CDNA 4.0", "RDNA 3.0", "RDNA 4.0")
"""Generations with 128 FP32 lanes a multiprocessor; so have those from 9.0 on (CUDA C++
Programming Guide, arithmetic instructions). AMD's have 64 lanes a compute unit and a peak that
counts two operations a lane, packed or dual issued (its white papers); of CDNA 2.0 the catalogue
has the peak without."""


_FEW_LOAD_UNITS = (
    *("7.5", "8.6", "8.7", "8.9", "12.0"),
    *("CDNA 2.0", "CDNA 3.0", "CDNA 4.0", "RDNA 3.0", "RDNA 4.0"),
)
"""Generations with 16 load units a multiprocessor; the large chips of their years (V100, A100,
H100) have 32 (NVIDIA's white papers on each). A compute unit of AMD's reads 64 bytes a clock from
its first cache, a word for each of 16."""


_TWINS = {"B300": "B200"}
"""Chips that differ from another in nothing but memory: every dense rate in half
precision and above, bandwidth, links and watts are the same (the makers' data sheets, as in the
catalogue; a test compares them). What was measured of one is all that is known of
the other."""


def gpu_type(chip: Chip) -> str:
    """A GPU whatever its memory, board and watts: an A100 of 40 GB says nearly all about one of 80,
    a B200 about a B300, an RTX PRO 6000 of 600 W much about its sisters for servers and of 300 W.
    """
    return chip_family(chip.name)


@cache
def chip_family(name: str) -> str:
    """The name that boards of one chip share, or of two that differ in nothing but memory."""
    name = _TWINS.get(name, name)
    return next((family for family in FULL_BOARD_W if name.startswith(family)), name)
