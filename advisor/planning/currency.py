"""The currency of a grant, and the one conversion of prices in US dollars to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from advisor.costs.amount_words import WHOLE, day_words, usd_exact
from price_catalog.currencies import exchange_rates

RATE_DECIMALS = 6
"""Of the price of an hour or a kWh: thousands of them are then right to the hundredth."""
CENTS_BELOW = 100
"""Amounts in sentences that keep their cents; in tables and line items all do."""
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Currency:
    """What all amounts of a grant are in, from its reading on."""

    code: str
    usd_per_unit: Decimal
    on: date | None = None
    """The day of the rate; None for US dollars, which need none."""
    source: str | None = None
    by_code: bool = False
    """Whether amounts have its code though it has a sign; dollars of the USA keep theirs."""

    @property
    def decimals(self) -> int:
        """Of an amount: 2, or 0 where no hundredths are in use."""
        return 0 if self.code in WHOLE else 2

    @property
    def unit(self) -> str:
        """Of its amounts in a report: ``usd`` or its code."""
        return "usd" if self.code == "USD" else self.code

    def of_usd(self, usd: Decimal) -> Decimal:
        """US dollars in it, to the hundredth; whole where it has none."""
        return (usd / self.usd_per_unit).quantize(self._step, rounding=ROUND_HALF_UP)

    def rate_of_usd(self, usd: Decimal) -> Decimal:
        """The price of an hour or a kWh in it."""
        exactly = usd / self.usd_per_unit
        return exactly.quantize(Decimal(1).scaleb(-RATE_DECIMALS), ROUND_HALF_UP).normalize()

    def in_usd(self, amount: Decimal) -> Decimal:
        """An amount of it in US dollars, to compare it with a limit in dollars."""
        return amount * self.usd_per_unit

    def rounded(self, amount: Decimal) -> Decimal:
        """To the hundredth, or whole."""
        return amount.quantize(self._step, rounding=ROUND_HALF_UP)

    @property
    def _step(self) -> Decimal:
        return Decimal(1).scaleb(-self.decimals)

    def written(self, amount: Decimal) -> str:
        """An amount of it, whole: ``$20,900``, ``€19,001``, ``CHF 18,500``."""
        return f"{self.sign}{amount.quantize(Decimal(1), ROUND_HALF_UP):,f}"

    def exactly(self, amount: Decimal) -> str:
        """An amount of it, to the hundredth where there is one: ``€860.17``."""
        return usd_exact(self.rounded(amount)).replace("$", self.sign)

    def in_prose(self, amount: Decimal) -> str:
        """An amount of it in a sentence: without cents, unless it is small."""
        return self.written(amount) if abs(amount) >= CENTS_BELOW else self.exactly(amount)

    @property
    def sign(self) -> str:
        """The sign or code before an amount."""
        signs = {"USD": "$"} if self.by_code else _SIGNS
        return signs.get(self.code, f"{self.code} ")

    @property
    def note(self) -> str | None:
        """The rate in words; None for US dollars."""
        if self.code == "USD":
            return None
        of = "" if self.on is None else f", the rate of {day_words(self.on)}"
        source = "" if self.source is None else f" ({self.source})"
        rate = f"{self.code} 1 = USD {self.usd_per_unit}"
        return f"Prices in US dollars are converted at {rate}{of}{source}."


DOLLARS = Currency(code="USD", usd_per_unit=Decimal(1))


def shipped_rates() -> dict[str, Currency]:
    """The rates that come with the program, by code."""
    return {
        code: Currency(code=code, usd_per_unit=rate.usd_per_unit, on=rate.on, source=rate.source)
        for code, rate in exchange_rates().items()
    }
