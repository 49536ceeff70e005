"""The tables of grant.toml: their keys, and what each may hold."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from advisor.planning.grant.toml_reader import Amount, AmountOrZero, Limits, Line, OverheadOn, Payer
from advisor.planning.solver.problem import Objective
from advisor.ranking.fine_tuning import FineTuning, Train
from advisor.ranking.times import EvidenceRule
from advisor.typed_input import parse_price_rule, shown
from price_catalog.vendors import find_country

MAX_YEARS = 15
RentalKind = Literal["on-demand", "spot", "peer"]
"""``peer``: on the machines of strangers, which nothing is planned on unless it is named."""
FUNDER_FOLDER = Path(__file__).with_name("funders")
FUNDERS = tuple(sorted(path.stem for path in FUNDER_FOLDER.glob("*.toml")))
if TYPE_CHECKING:
    Funder = str
else:
    Funder = Literal[FUNDERS]
"""The funder whose form the report has: one file each; ``plain`` for none."""
AwardYears = Literal["start", "calendar", "fiscal"]
"""Years of the grant: from its first day, or cut where a calendar or a fiscal year begins."""
CloudAs = Literal["service", "rental", "waived"]
UsdPerUnit = Annotated[Decimal, Limits(1e-6, 1_000_000, usd=True)]
"""No currency is worth less."""
Rate = Annotated[Decimal, Limits(0, 2)]
AllocationKind = Literal["campus", "condo", "national", "cloud-credit"]
AllocationOverhead = Literal["none", "service", "rental", "equipment"]
CostKind = Literal["storage", "network", "racks", "warranty", "staff", "other"]
Per = Literal["grant", "year", "machine"]
_MaxGpus = Annotated[int, Limits(1, 1024, words=("gpus",))]
_Hours = Annotated[Decimal, Limits(0, 1e9, above=True, words=("gpu-hours", "gpu hours", "hours"))]
_HourlyUsd = Annotated[Decimal, Limits(0, 1000, usd=True)]
_Hourly = Annotated[Decimal, Limits(0, 1e9)]
"""Of any currency; in dollars it is compared once its rate is known."""
_JobDays = Annotated[Decimal, Limits(0.01, 365, unit="days")]
"""At least a quarter of an hour: a long run is split into jobs of this length."""
_WaitDays = Annotated[Decimal, Limits(0, 365, unit="days")]
_LastsYears = Annotated[Decimal, Limits(0, 30, above=True, unit="years")]
_Odds = Annotated[Decimal, Limits(0, 1, above=True)]
_RunDays = Annotated[Decimal, Limits(0, 5475, above=True, unit="days")]
_Gbit = Annotated[Decimal, Limits(0, 10_000, above=True, words=("gbit/s", "gbit"))]
_PriceChange = Annotated[Decimal, Limits(-0.9, 1)]
LONGEST_RUN_DAYS = Decimal(90)
SLACK = Decimal("0.15")
Share = Annotated[Decimal, Limits(0, 1)]
Names = Annotated[tuple[Line, ...], Limits(1, 10_000)]


class _Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file; its fields are the keys that it may have."""


class GrantExperiment(_Table, frozen=True):
    """Runs of one model that are wanted."""

    model: Line
    name: Line = Line()
    """The model's, unless it has one of its own."""
    runs: Annotated[int, Limits(1, 10_000, words=("runs", "run"))] = 1
    not_before: date | None = None
    by: date | None = None
    each_year: bool = False
    tokens: Annotated[Decimal, Limits(1e6, 1e15, words=("tokens",))] | None = None
    """Of each run; without it as many as the model's recipe has."""
    train: Train = "pretrain"
    """From nothing, or fine-tuning ..."""
    adapter_rank: Annotated[int, Limits(1, 10_000)] | None = None
    data_tokens: Annotated[Decimal, Limits(1, 1e15, words=("tokens",))] | None = None
    """Tokens of the data set, or ..."""
    examples: Annotated[Decimal, Limits(1, 1e12, words=("examples", "images"))] | None = None
    """... its examples, or images ..."""
    length: Annotated[int, Limits(1, 10_000_000, words=("tokens",))] | None = None
    """... and the tokens of each example."""
    epochs: Annotated[Decimal, Limits(0, 10_000, above=True, words=("epochs",))] | None = None
    """How often the data are seen."""
    min_runs: Annotated[int, Limits(0, 10_000, words=("runs", "run"))] = 0
    """At least as many are done, where not all can be."""
    who: Line | None = None
    value: Annotated[int, Limits(1, 1000)] = 1

    def __post_init__(self) -> None:
        if not self.name:
            force_setattr(self, "name", self.model)

    @property
    def trained(self) -> str:
        """The model's name with how it is fine-tuned."""
        if self.train == "pretrain":
            return self.model
        data = self.data_tokens if self.data_tokens is not None else self.examples
        tuning = FineTuning(
            train=self.train,
            rank=self.adapter_rank,
            data=None if data is None else float(data),
            length=self.length,
            epochs=float(self.epochs or 1),
        )
        return tuning.of(self.model)


class Owned(_Table, frozen=True):
    """Machines that the lab has."""

    gpu: Line
    gpu_count: Annotated[int, Limits(1, 64, words=("gpus",))]
    machines: Annotated[int, Limits(1, 1000)] = 1
    usable_from: date | None = None
    free_slots: Annotated[int, Limits(0, 64)] = 0
    """How many more GPUs of the same kind fit into each: its slots, power supply and cooling."""
    host_memory_gib: Annotated[Decimal, Limits(0, 100_000, above=True, unit="GiB")] | None = None
    """Of each machine: with enough of it some models fit, or train faster."""


class General(_Table, frozen=True):
    start: date
    years: Annotated[int, Limits(1, MAX_YEARS, unit="years")] | None = None
    """How long it lasts; or ..."""
    months: Annotated[int, Limits(1, 12 * MAX_YEARS, unit="months")] | None = None
    title: Line | None = None
    objective: Objective = "cheapest"
    funder: Funder = "plain"
    award_years: AwardYears = "start"


class CostLine(_Table, frozen=True):
    """What the grant pays besides machines and rent: storage, staff."""

    name: Line
    kind: CostKind
    amount: AmountOrZero | None = None
    """In the grant's currency; or ..."""
    share_of_price: Annotated[Decimal, Limits(0, 2, above=True)] | None = None
    """... of every machine that is bought."""
    per: Per = "grant"
    year: Annotated[int, Limits(1, MAX_YEARS)] = 1
    """In which year of the grant, where it is paid once."""
    overhead: OverheadOn = OverheadOn(charged=True)
    """Whether it is charged, or the rate of this line alone."""
    price_change: _PriceChange = Decimal(0)
    """By which an amount of every year rises from one year to the next."""
    source: Line | None = None


class AllocationTable(_Table, frozen=True):
    """Hours on the machines of others that are granted, or may be awarded.

    A ``programme`` brings what is known of it; what is written here goes before.
    """

    programme: Line | None = None
    resource: Line | None = None
    """Which machine of a programme that has several."""
    name: Line | None = None
    gpu: Line | None = None
    kind: AllocationKind | None = None
    max_gpus: _MaxGpus | None = None
    gpu_hours_a_year: _Hours | None = None
    gpu_hours: _Hours | None = None
    """Instead: in all, used in any year."""
    usd_per_gpu_hour: _HourlyUsd | None = None
    """In dollars, whatever the grant is in; or ..."""
    price_per_gpu_hour: _Hourly | None = None
    """... in the grant's currency."""
    credit: Amount | None = None
    """Of a cloud: what is given, once, in the money of the price of an hour, which it pays."""
    buy_in: Amount | None = None
    """Of a condo: what one share of it costs once, in the grant's currency ..."""
    buy_in_on: date | None = None
    """... on which day ..."""
    lasts_years: _LastsYears | None = None
    """... and for how long it is served."""
    max_job_days: _JobDays | None = None
    queue_days: _WaitDays | None = None
    odds: _Odds | None = None
    overhead: AllocationOverhead | None = None
    starts: date | None = None
    ends: date | None = None
    source: Line | None = None


class GrantAllocation(AllocationTable, frozen=True, kw_only=True):
    """What an allocation is planned with."""

    name: Line
    gpu: Line
    kind: AllocationKind = "campus"
    max_gpus: _MaxGpus = 8
    """Of one job."""
    usd_per_gpu_hour: _HourlyUsd = Decimal(0)
    queue_days: _WaitDays = Decimal(0)
    """Before each job."""
    odds: _Odds = Decimal(1)
    """That it is awarded."""
    overhead: AllocationOverhead = "none"


class BudgetTable(_Table, frozen=True):
    total: AmountOrZero | None = None
    shared: AmountOrZero | None = None
    """What others pay of all costs, as a sum."""
    shared_per_year: tuple[AmountOrZero, ...] | None = None
    """The same, of each award year."""
    shared_by: Payer | None = None
    currency: Line | None = None
    usd_per_unit: UsdPerUnit | None = None
    usd_per_unit_on: date | None = None
    rate_source: Line | None = None
    vat: Annotated[Decimal, Limits(0, 0.5)] = Decimal(0)
    per_year: tuple[AmountOrZero, ...] | None = None
    carry_over: bool = True


class _Prices(Line):
    """A price rule; a day may be written without quotes."""

    @classmethod
    def read(cls, value: Any) -> _Prices:
        """Raises ValueError."""
        text = value.isoformat() if isinstance(value, date) else Line.read(value)
        parse_price_rule(text)
        return cls(text)


class _Evidence(_Table, frozen=True):
    times: EvidenceRule = "sound"
    predictions: bool = True
    prices: _Prices = _Prices("latest")


class Purchases(_Table, frozen=True):
    allowed: bool = True
    gpus: Names | None = None
    years: tuple[Annotated[int, Limits(1, MAX_YEARS, unit="years")], ...] | None = None
    max_machines: Annotated[int, Limits(0, 10_000)] | None = None
    lead_days: Annotated[int, Limits(0, 1000, unit="days")] = 0
    lifetime_years: Annotated[Decimal, Limits(0, 50, above=True, unit="years")] | None = None
    order_every_months: Literal[1, 3, 6, 12] = 12
    order_on: Annotated[tuple[date, ...], Limits(1, 120)] | None = None
    price_change: _PriceChange = Decimal(0)
    educational_discount: Annotated[Decimal, Limits(0, 0.9)] = Decimal(0)
    cost_share: Annotated[Decimal, Limits(0, 0.99)] = Decimal(0)
    cost_share_by: Payer | None = None


class Rentals(_Table, frozen=True):
    allowed: bool = True
    gpus: Names | None = None
    kinds: Annotated[tuple[RentalKind, ...], Limits(1, 10_000)] = ("on-demand",)
    providers: Names | None = None
    price_change: _PriceChange = Decimal(0)


class Running(_Table, frozen=True):
    utilisation: Annotated[Decimal, Limits(0, 1, above=True)] = Decimal(1)
    utilisation_by_year: tuple[Annotated[Decimal, Limits(0, 1, above=True)], ...] | None = None
    queue_days: _WaitDays = Decimal(0)
    slack: Annotated[Decimal, Limits(0, 0.9)] = SLACK
    longest_run_days: _RunDays = LONGEST_RUN_DAYS
    failures: Share = Decimal(0)
    share_gpus: bool = True
    network_gbit: _Gbit | None = None


class ElectricityTable(_Table, frozen=True):
    paid_by: Literal["grant", "institution"] | None = None
    """The grant, where the table says anything at all."""
    usd_per_kwh: Annotated[Decimal, Limits(0, 10, above=True, usd=True)] | None = None
    """In dollars, whatever the grant is in; or ..."""
    price_per_kwh: Annotated[Decimal, Limits(0, 1e7, above=True)] | None = None
    """... in the grant's currency."""
    pue: Annotated[Decimal, Limits(1, 5)] = Decimal(1)
    host_watts: Annotated[Decimal, Limits(0, 20_000, words=("watts", "w"))] = Decimal(0)
    price_change: _PriceChange = Decimal(0)
    source: Line | None = None


class YearStart(tuple[int, int]):
    """Month and day of the first day of every fiscal year."""

    @classmethod
    def read(cls, value: Any) -> YearStart:
        """Raises ValueError."""
        text = Line.read(value)
        try:
            day = date.fromisoformat(f"2027-{text}")
        except ValueError:
            raise ValueError(f"{shown(text)} is not a day of the year: write 07-01") from None
        return cls((day.month, day.day))


class OwnRules(_Table, frozen=True):
    """Rules of a file, and what is another here; without a file these alone."""

    rules: Line | None = None
    name: Line | None = None
    equipment_threshold: AmountOrZero | None = None
    """In the grant's currency."""
    overhead_rate: Rate | None = None
    overhead_rate_by_year: tuple[Rate, ...] | None = None
    """One for each award year."""
    overhead_rate_cloud: Rate | None = None
    overhead_rate_electricity: Rate | None = None
    cloud_as: CloudAs | None = None
    equipment_in_base: bool | None = None
    electricity_in_base: bool | None = None
    life_months: Annotated[int, Limits(1, 600, unit="months")] | None = None
    use_share: Annotated[Decimal, Limits(0, 1, above=True)] | None = None
    rent_up_to_depreciation: bool | None = None
    fiscal_year_start: YearStart | None = None
    source: Line | None = None


class Country(Line):
    """Two letters, as ISO 3166-1 has them."""

    @classmethod
    def read(cls, value: Any) -> Country:
        """Raises ValueError."""
        return cls(find_country(Line.read(value)))


class Procurement(_Table, frozen=True):
    """What the institution lets one buy and rent; a rule that is left out is its file's."""

    country: Country | None = None
    """To which sellers deliver."""
    vendors: Names | None = None
    """The only sellers that are accepted."""
    vendors_refused: Names | None = None
    whole_machines: bool | None = None
    """Nothing from parts or at a sum of options."""
    warranty_years: Annotated[Decimal, Limits(0, 30, unit="years")] | None = None
    quote_months: Annotated[Decimal, Limits(0, 240, above=True, unit="months")] | None = None
    """How old a quote may be."""
    providers: Names | None = None
    """Of rent."""


class GrantFile(_Table, frozen=True):
    grant: General
    budget: BudgetTable = BudgetTable()
    evidence: _Evidence = _Evidence()
    experiments: tuple[GrantExperiment, ...] = ()
    owned: tuple[Owned, ...] = ()
    purchases: Purchases = Purchases()
    rentals: Rentals = Rentals()
    running: Running = Running()
    electricity: ElectricityTable = ElectricityTable()
    institution: OwnRules = OwnRules()
    procurement: Procurement = Procurement()
    allocations: tuple[AllocationTable, ...] = ()
    costs: tuple[CostLine, ...] = ()
