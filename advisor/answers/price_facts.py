"""The price that counts, told with its range and age; and what a buyer needs beside it (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from advisor.answers.wording import KIND_WORDS, price_marks
from advisor.costs.amount_words import day_words, usd_exact
from advisor.costs.price_book import kind_class
from advisor.ranking.candidates import AskedPrice
from advisor.ranking.row_order import RankedRow
from price_catalog.builds import Build, rack_units_of
from price_catalog.model import Quote
from price_catalog.power import heat_btu_per_h, power_figures, wall_w

_TERMS = ("includes", "valid_until", "delivery", "warranty", "url")


def as_quoted(quote: Quote) -> str | None:
    """``EUR 13,444.54``: what its seller asks in another currency; None where it is US dollars."""
    return None if quote.price_quoted is None else f"{quote.currency} {quote.price_quoted:,.2f}"


def newer_words(told: AskedPrice, today: date) -> str | None:
    """Which newer quote does not count, and why; None where there is none."""
    newer = told.newer
    if newer is None:
        return None
    asked = f"{KIND_WORDS.get(newer.kind, newer.kind)}, {newer.label}, {day_words(newer.quoted_on)}"
    return (
        f"a newer quote of {told.item} does not count: {usd_exact(newer.price_usd)} ({asked}), "
        f"because {_why_not(told.quote, newer, today)}"
    )


def _why_not(chosen: Quote, newer: Quote, today: date) -> str:
    if newer.valid_until is not None and newer.valid_until < today:
        return f"it expired on {day_words(newer.valid_until)}"
    if chosen.is_own and not newer.is_own:
        return "yours comes before others'"
    if kind_class(newer.kind) < kind_class(chosen.kind):
        return "it is asked by no seller, and the other is"
    apart = max(newer.price_usd, chosen.price_usd) > 2 * min(newer.price_usd, chosen.price_usd)
    if newer.origin != "shipped" and apart:
        return "it is far off what others ask"
    if chosen.quote_id.startswith("parts:"):
        return "the parts added up are the better price"
    return "of several sellers the median counts"


def price_object(row: RankedRow, told: AskedPrice, today: date) -> dict[str, Any]:
    """One of the prices of a build for JSON, exact."""
    quote, span, newer = told.quote, told.span, told.newer
    return {
        "item": told.item,
        "pieces": told.pieces,
        "price_usd": quote.price_usd,
        **{name: getattr(span, name, None) for name in ("low_usd", "high_usd", "quotes")},
        "quoted_on": quote.quoted_on,
        "age_days": (today - quote.quoted_on).days,
        "kind": quote.kind,
        "vendor": quote.vendor,
        "own": quote.is_own,
        "marks": price_marks(row, quote, today),
        **{name: getattr(quote, name) for name in _TERMS},
        "newer_passed_over": newer
        and {name: getattr(newer, name) for name in ("price_usd", "quoted_on", "kind", "vendor")}
        | {"why_not": _why_not(quote, newer, today)},
    }


def machine_object(build: Build) -> dict[str, Any]:
    """What a buyer needs beside the price, for JSON; None where no source was found to state it."""
    host, gpu, watts = build.host, build.gpu, wall_w(build)
    link = host.gpu_link
    # What joins the GPUs of a whole machine as the GPU's maker has it.
    joined = build.gpu_count > 1 and not gpu.form_factor.startswith("PCIe")
    if link is None and joined and gpu.nvlink_gb_s is not None:
        link = f"NVLink, {gpu.nvlink_gb_s:g} GB/s a GPU"
    return {
        "wall_w": None if watts is None else round(watts),
        "wall_w_is": None if watts is None else power_figures(build).basis,
        "power_limit_w": None if build.limit is None else build.limit.watts,
        "heat_btu_per_h": None if watts is None else round(heat_btu_per_h(watts)),
        "rack_units": rack_units_of(host),
        "memory_gib": host.memory_gib,
        "gpu_link": link,
        "noise_dba": host.noise_dba,
        "weight_kg": host.weight_kg,
    }


def place_lines(build: Build) -> Iterator[str]:
    """What a machine takes of a room and brings beside its GPUs; last what no source states."""
    facts, missing = machine_object(build), []
    units = facts["rack_units"]
    words = (
        ("rack units", units, "stands on the floor" if units == 0 else "rack: {:g} U"),
        ("memory", facts["memory_gib"], "memory: {:,.0f} GiB"),
        ("noise", facts["noise_dba"], "noise: {:g} dB(A)"),
        ("weight", facts["weight_kg"], "weight: {:g} kg"),
        ("link between the GPUs", facts["gpu_link"], "GPUs joined by: {}"),
    )
    for name, value, text in words:
        if value is not None:
            yield text.format(value)
        elif build.gpu_count > 1 or not name.startswith("link"):
            missing.append(name)
    if missing:
        yield f"not stated: {', '.join(missing)}"
