"""What the catalogue's text tables say, one frozen record a kind of row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

HostKind = Literal["desktop", "server", "owned"]
"""``owned``: a machine that the user has."""
SOLD_HOST_KINDS: tuple[HostKind, ...] = ("desktop", "server")
RentalKind = Literal["on-demand", "spot", "reserved", "peer"]
RENTAL_KINDS: tuple[RentalKind, ...] = get_args(RentalKind)
QuoteKind = Literal[
    "reseller-quote",
    "education",
    "list",
    "street",
    "used",
    "secondary",
    "parts-list",
    "rounded",
    "owned",
]
"""``education``: what a seller asks of universities; ``secondary``: told by someone who does not
sell it; ``parts-list``: added up from prices of parts, or of a seller's options; ``owned``: of what
the user has."""
QUOTE_KINDS: tuple[QuoteKind, ...] = get_args(QuoteKind)
OWN_QUOTE = "own quote"
"""What marks a machine or a price that the user entered, wherever it is shown: on screens, which
speak to the user, and in reports, in which the user speaks."""


LOWEST_PRICE_USD = {
    "gpu": Decimal(20),
    "host": Decimal(100),
    "server": Decimal(1_000),
    "part": Decimal(1),
}
HIGHEST_PRICE_USD = {
    "gpu": Decimal(250_000),
    "host": Decimal(1_000_000),
    "server": Decimal(5_000_000),
    "part": Decimal(500_000),
}
"""Beyond these a price is a slip of the pen, a total for several, or another currency."""
ITEM_KINDS = tuple(LOWEST_PRICE_USD)
"""What a quote may be for."""


class Source(NamedTuple):
    """Who says so, and how they know. Every fact in the store names one of these."""

    source_id: str
    title: str
    url: str | None
    how_measured: str
    """In words: what was done to obtain the figures, and what is known to be wrong with them."""
    licence: str | None
    published_on: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU as its maker specifies it. Rates are dense (no sparsity), with FP32 accumulate."""

    gpu_id: str
    """Stable and lower case, e.g. ``a100-sxm4-80gb``."""
    name: str
    """What a person calls it, e.g. ``A100``; unique."""
    aliases: tuple[str, ...]
    """Other spellings, those of nvidia-smi and torch among them, e.g. ``NVIDIA A100-SXM4-80GB``."""
    vendor: str
    architecture: str | None
    compute_capability: str | None
    launched_on: date | None
    form_factor: str
    memory_gib: float
    """As sold; the driver shows a little less."""
    memory_bandwidth_gb_s: float | None
    fp32_tflops: float | None
    tf32_tflops: float | None
    fp16_tflops: float | None
    bf16_tflops: float | None
    fp8_tflops: float | None
    tdp_w: float | None
    nvlink_gb_s: float | None
    field_sources: str
    """Which source each figure comes from, ``field=source_id`` separated by semicolons; what the
    source itself cites may follow the id in brackets."""
    note: str | None
    slot_width: int | None = None
    """Expansion slots that one card covers; None where it is no card or nothing is known."""
    cooling: str | None = None
    """``passive`` (a server's air), ``blower`` (out at the back), ``open-air`` or ``flow-through``
    (into the case); None where it is no card or nothing is known."""

    @property
    def short_name(self) -> str:
        """``RTX PRO 6000 Max-Q``: without the architecture's name where it is known without it, as
        who sells it calls it."""
        chips = (self.architecture or "").partition(" ")[0]  # "Blackwell" of "Blackwell 2.0"
        short = self.name.replace(f" {chips}", "") if chips else self.name
        return short if short in self.aliases else self.name


class Part(NamedTuple):
    """One line of a host's parts list."""

    role: str
    detail: str
    price_usd: Decimal
    priced_on: date
    source_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A machine that takes exactly ``max_gpus`` GPUs, or a whole server that comes with them.

    What is not known of it is None; `price_catalog.builds.not_known` says what follows.
    """

    host_id: str
    name: str
    kind: HostKind
    """``desktop``, ``server`` or ``owned`` (a machine that the user already has)."""
    max_gpus: int
    parts: tuple[Part, ...] = ()
    gpu_id: str | None = None
    """The GPUs that a whole server comes with and its price covers, or that are in an owned one;
    None for an empty machine."""
    takes: tuple[str, ...] = ()
    """The cards that it can hold and cool: ``passive``, ``blower``, ``open`` (cards that blow into
    the case, open-air and flow-through alike); () where not known."""
    open_gpus: int | None = None
    """How many open cards it holds, where that is fewer than ``max_gpus``."""
    supported: tuple[str, ...] = ()
    """The GPUs that its maker names as fitting; others may fit too."""
    lanes_per_gpu: int | None = None
    """PCIe lanes that each card has."""
    slot_width: int | None = None
    """The widest card that fits beside as many others, in expansion slots."""
    max_gpu_w: float | None = None
    """The hottest card that it is sold with, in W."""
    psu_w: float | None = None
    """What all its power supplies give together, in W."""
    psu_count: int | None = None
    psu_efficiency: float | None = None
    """At full load, as the 80 PLUS class of the supplies guarantees it; between 0 and 1."""
    base_w: float | None = None
    """What its processors draw at most, in W; fans, disks and memory come on top."""
    wall_w: float | None = None
    """What a whole server draws at most, GPUs included, as its maker states it, in W."""
    rack_units: float | None = None
    memory_gib: float | None = None
    gpu_link: str | None = None
    """What joins the cards beside PCIe, in words."""
    noise_dba: float | None = None
    """At most, as stated."""
    weight_kg: float | None = None
    spec_source: str | None = None
    """Which source each of these figures comes from, written like a GPU's ``field_sources``."""
    note: str | None = None
    origin: str = "shipped"
    """``shipped`` or ``local`` (the user's own)."""

    @property
    def is_own_quote(self) -> bool:
        """Whether the user entered it with a vendor's price, rather than having it already."""
        return self.origin == "local" and self.kind != "owned"

    @property
    def label(self) -> str:
        """Its name, marked where the user entered it."""
        return f"{self.name} ({OWN_QUOTE})" if self.is_own_quote else self.name


TAKEN_OUT = "taken out"
"""What stands in ``Quote.includes`` behind tax that is no longer in its price."""


class Quote(NamedTuple):
    """What somebody asked for one item on one day. A quote is corrected by a later one, never
    changed. As light as a row: a ledger may have 100,000 of them."""

    quote_id: str
    item_kind: str
    """``gpu``, ``host`` (without GPUs), ``server`` (with its GPUs) or ``part``."""
    item_id: str
    price_usd: Decimal
    kind: QuoteKind
    vendor: str
    quoted_on: date
    """The earliest day that the price can be of, where its own day is not known."""
    source_id: str
    url: str | None = None
    note: str | None = None
    price_set: str | None = None
    """``paper`` for the figures that the paper's section 4.1 computes with; else None."""
    currency: str = "USD"
    """The currency of the quote itself, as ISO 4217 has it; ``price_usd`` is converted from it."""
    price_quoted: Decimal | None = None
    """The price in that currency; None where it is US dollars."""
    includes: str | None = None
    """What the price includes or takes off: ``tax``, ``shipping``, ``education discount``."""
    valid_until: date | None = None
    """The last day on which it was offered; long past where it is sold out."""
    delivery: str | None = None
    """How long the vendor says that it takes, in words."""
    warranty: str | None = None
    file: str | None = None
    """Where the user keeps the quote, where it is no web page."""
    corrects: str | None = None
    """The quote that this one stands in for; that one is kept and no longer counts."""
    origin: str = "shipped"
    """``shipped`` or ``local`` (the user's own)."""

    @property
    def has_tax(self) -> bool:
        """Whether the tax is in it that other prices leave out, or was."""
        words = (self.includes or "").lower().replace(",", ";").replace("+", ";").split(";")
        return any(word.strip() == "tax" or TAKEN_OUT in word for word in words)

    @property
    def tax_words(self) -> str:
        """What is said of that tax beside the price; empty where none is in it."""
        if not self.has_tax:
            return ""
        return ", its tax taken out" if TAKEN_OUT in (self.includes or "") else ", includes tax"

    @property
    def is_own(self) -> bool:
        """Whether the user entered it, rather than having the machine already."""
        return self.origin == "local" and self.kind != "owned"

    @property
    def is_summed(self) -> bool:
        """Whether it was added up from the prices of parts or options: no total was quoted."""
        return self.kind == "parts-list"

    @property
    def label(self) -> str:
        """Its vendor, marked where the user entered it."""
        return f"{self.vendor} ({OWN_QUOTE})" if self.is_own else self.vendor


class Rental(NamedTuple):
    """What one instance with this many GPUs cost an hour, on one day."""

    rental_id: str
    provider: str
    instance: str | None
    gpu_id: str
    gpu_count: int
    price_per_hour_usd: Decimal
    """The whole instance, all its GPUs."""
    kind: RentalKind
    """``on-demand``, ``spot``, ``reserved`` (paid for every hour of the term) or ``peer`` (on a
    stranger's machine, through a marketplace)."""
    region: str | None
    priced_on: date
    source_id: str
    url: str | None = None
    note: str | None = None
    outlier: bool = False
    """Far from what others ask for the same GPU; kept, marked, and not counted with."""
    leaves_out: str | None = None
    """What is billed on top of the price: ``processor and memory``."""
    origin: str = "shipped"
