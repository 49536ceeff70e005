"""The currency of a grant: its code, its rate with date and source, and amounts written in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from advisor.costs.amounts import WHOLE, day_words, usd_exact
from advisor.parse import shown
from advisor.planning.grant.toml_reader import wrong
from price_catalog.currencies import exchange_rates

CENT = Decimal("0.01")
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Currency:
    """What the grant's amounts are in."""

    code: str
    usd_per_unit: Decimal
    on: date | None = None
    """The day of the rate; None for US dollars, which need none."""
    source: str | None = None

    def to_usd(self, amount: Decimal) -> Decimal:
        """An amount of it in US dollars, to the cent."""
        return (amount * self.usd_per_unit).quantize(CENT, rounding=ROUND_HALF_UP)

    def rate_usd(self, amount: Decimal) -> Decimal:
        """The price of an hour or a kWh in US dollars, so fine that thousands are right."""
        exactly = amount * self.usd_per_unit
        return exactly.quantize(Decimal("0.000001"), rounding=ROUND_HALF_UP).normalize()

    def of_usd(self, usd: Decimal) -> Decimal:
        """US dollars in it, to the hundredth; whole where it has none."""
        step = Decimal(1).scaleb(-self.decimals)
        return (usd / self.usd_per_unit).quantize(step, rounding=ROUND_HALF_UP)

    @property
    def decimals(self) -> int:
        """Of an amount: 2, or 0 where no hundredths are in use."""
        return 0 if self.code in WHOLE else 2

    def written(self, usd: Decimal) -> str:
        """US dollars as an amount of it, whole: ``$20,900``, ``€19,001``, ``CHF 18,500``."""
        return self.whole(self.of_usd(usd))

    def whole(self, amount: Decimal) -> str:
        """An amount of it, whole."""
        return f"{self.sign}{amount.quantize(Decimal(1), ROUND_HALF_UP):,f}"

    def exactly(self, usd: Decimal) -> str:
        """US dollars as an amount of it, to the hundredth where there is one: ``€860.17``."""
        return usd_exact(self.of_usd(usd)).replace("$", self.sign)

    @property
    def sign(self) -> str:
        """The sign or code before an amount."""
        return _SIGNS.get(self.code, f"{self.code} ")

    @property
    def note(self) -> str | None:
        """The rate in words; None for US dollars."""
        if self.code == "USD":
            return None
        of = "" if self.on is None else f", the rate of {day_words(self.on)}"
        source = "" if self.source is None else f" ({self.source})"
        rate = f"{self.code} 1 = ${self.usd_per_unit}"
        return f"Prices in US dollars are converted at {rate}{of}{source}."


DOLLARS = Currency(code="USD", usd_per_unit=Decimal(1))


def shipped_rates() -> dict[str, Currency]:
    """The rates that come with the program, by code."""
    return {
        code: Currency(code=code, usd_per_unit=rate.usd_per_unit, on=rate.on, source=rate.source)
        for code, rate in exchange_rates().items()
    }


def find_currency(
    file: str, code: str, rate: Decimal | None, on: date | None, source: str | None
) -> Currency:
    """A currency with its own rate, or a shipped one. Raises InputError."""
    code = code.upper()
    if not (len(code) == 3 and code.isascii() and code.isalpha()):
        raise wrong(file, "budget.currency", f"{shown(code)} is not a code: write EUR or GBP")
    if code == "USD":
        if rate is not None and rate != 1:
            raise wrong(file, "budget.usd_per_unit", "US dollars need no rate: remove this key")
        return DOLLARS
    if rate is None:
        known = shipped_rates()
        if code in known:
            return known[code]
        problem = (
            f"no rate of {code} ships (only {', '.join(sorted(known))}): write usd_per_unit, "
            "usd_per_unit_on and rate_source"
        )
        raise wrong(file, "budget.currency", problem)
    if on is None:
        raise wrong(file, "budget.usd_per_unit_on", "a rate needs its day: write 2026-09-25")
    return Currency(code=code, usd_per_unit=rate, on=on, source=source)
