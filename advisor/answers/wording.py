"""How days, dollars, dates, settings and marks are written, once for every surface."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from advisor.costs.price_book import age_words, quote_marks
from advisor.ranking.rank import RankedRow
from advisor.ranking.times import TrainingTime
from bench_runner.records import Settings
from price_catalog.builds import Build
from price_catalog.model import Quote

if TYPE_CHECKING:
    from advisor.ranking.rank import RankedRow
    from advisor.ranking.times import TrainingTime
    from price_catalog.builds import Build
    from price_catalog.model import Quote


def settings_words(settings: Settings | None) -> str:
    """Settings in the field's terms, as one short line."""
    if settings is None:
        return "settings not recorded"
    words = ["free lunch" if settings.free_lunch else "naive"]
    if settings.activation_checkpointing:
        words.append("activation checkpointing")
    if settings.sharding:
        words.append(settings.sharding)
    if settings.offloading:
        words.append("offloading")
    if settings.micro_batch_size is not None:
        words.append(f"micro-batch {settings.micro_batch_size}")
    if settings.gradient_accumulation_steps is not None:
        words.append(f"accumulation {settings.gradient_accumulation_steps}")
    return ", ".join(words)


def time_words(time: TrainingTime) -> str:
    """How far to trust a time, as a few words."""
    if time.basis == "predicted":
        words = ["predicted"]
    else:
        words = ["measured" if time.timing == "synchronised" else "unsynchronised"]
    if time.method == "naive":
        words.append("naive")
    if time.implied_mfu is not None:
        words.append(f"{time.implied_mfu:.0%} MFU")
    if time.verdict in ("doubtful", "implausible"):
        words.append(time.verdict)
    return ", ".join(words)


def days_words(row: RankedRow) -> str:
    """Days with their interval: ``34 (33.5–34.5)``."""
    low, high = row.training_days_low, row.training_days_high
    interval = "" if low == high else f" ({_days(low)}–{_days(high)})"
    return f"{_days(row.training_days)}{interval}"


def _days(days: float) -> str:
    return f"{days:,.0f}" if days >= 1000 else f"{days:.1f}".removesuffix(".0")


def build_words(build: Build) -> str:
    """``4 × A6000``; a whole server, an owned machine or an upgrade says so."""
    words = f"{build.gpu_count} × {build.gpu.name}"
    if build.host.gpu_id is not None:
        return f"{words} ({build.host.name})"
    if build.gpus_owned:
        return f"{words} ({build.gpus_owned} owned, {build.gpu_count - build.gpus_owned} to buy)"
    return words


def price_note(row: RankedRow, today: date) -> str:
    """The date, age and marks of a build's oldest price: ``2024-09-21, 2.2 years, stale``."""
    oldest = min((row.gpu_quote, row.host_quote), key=lambda quote: quote.quoted_on)
    marks = dict.fromkeys(mark for quote in _both(row) for mark in price_marks(row, quote, today))
    if oldest.kind == "owned":
        return "owned"
    return ", ".join([str(oldest.quoted_on), age_words(oldest.quoted_on, today), *marks])


def price_marks(row: RankedRow, quote: Quote, today: date) -> tuple[str, ...]:
    """What speaks against one of the two prices of a build."""
    return quote_marks(quote, today=today, outlying=quote.item_kind in row.outlying_prices)


def _both(row: RankedRow) -> tuple[Quote, ...]:
    return tuple(dict.fromkeys((row.gpu_quote, row.host_quote)))


def usd(amount: Decimal) -> str:
    """Dollars as a person reads them: cents only where there are any."""
    return f"${amount:,.0f}" if amount == amount.to_integral_value() else f"${amount:,.2f}"


def days_shown(days: float) -> str:
    """Three digits, but never a whole day rounded away: 0.153, 36.3, 370, 1992."""
    return f"{days:.0f}" if days >= 100 else f"{days:.3g}"


def experiment_line(row: RankedRow, lifetime_years: float) -> str:
    """The cost of one experiment, worked out: ``$20,900 × 30 d / (5 y × 365 d) = $343.56``."""
    return (
        f"{usd(row.overall_cost_usd)} × {row.training_days:g} d / "
        f"({lifetime_years:g} y × 365 d) = ${row.experiment_cost_usd:,.2f}"
    )
