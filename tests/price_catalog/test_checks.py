"""That the shipped catalogue holds together beyond what its reader refuses."""

from __future__ import annotations

import itertools
from datetime import date

from price_catalog.load import Catalog
from price_catalog.model import HIGHEST_PRICE_USD, LOWEST_PRICE_USD, Gpu, Host
from price_catalog.power_limits import load_points

MARGIN_SOURCES = (
    *("memory-and-drive-watts", "server-power-shares", "case-fan-watts", "eighty-plus"),
)
"""Whom the docstrings of price_catalog/power.py name."""


def said(words: str | None) -> set[str]:
    """The fields that a record names the source of."""
    return {pair.strip().partition("=")[0] for pair in (words or "").split(";")}


def test_each_figure_names_its_source(catalog: Catalog) -> None:
    unsourced = {
        *("name", "aliases", "vendor", "form_factor", "note", "parts", "origin", "kind"),
        *("gpu_id", "host_id", "max_gpus", "field_sources", "spec_source"),
        *("architecture", "compute_capability"),
    }
    records: list[tuple[Gpu | Host, str | None]] = [(g, g.field_sources) for g in catalog.gpus]
    records += [(host, host.spec_source) for host in catalog.hosts]
    for record, words in records:
        named = {
            name
            for name in type(record).__dataclass_fields__
            if getattr(record, name) not in (None, ()) and name not in unsourced
        }
        assert named <= said(words), record.name


def test_no_price_is_a_slip_or_of_a_day_to_come(catalog: Catalog) -> None:
    priced = [(quote.item_kind, quote.price_usd, quote.quoted_on) for quote in catalog.quotes]
    priced += [("part", p.price_usd, p.priced_on) for host in catalog.hosts for p in host.parts]
    for kind, usd, day in priced:
        assert LOWEST_PRICE_USD[kind] <= usd <= HIGHEST_PRICE_USD[kind]
        assert day <= date.today()
    days = [rental.priced_on for rental in catalog.rentals]
    days += [day for source in catalog.sources if (day := source.published_on)]
    days += [day for gpu in catalog.gpus if (day := gpu.launched_on)]
    assert max(days) <= date.today()


def test_no_quote_is_there_twice_and_each_sum_is_one(catalog: Catalog) -> None:
    # One that corrects another may mend its page or its note alone.
    facts = [(*q[1:5], q.vendor.casefold(), q.quoted_on, q.corrects) for q in catalog.quotes]
    assert len(set(facts)) == len(facts)
    hosts = {host.host_id: host for host in catalog.hosts}
    for quote in catalog.quotes:
        parts = hosts[quote.item_id].parts if quote.item_kind == "host" else ()
        if quote.kind == "parts-list" and parts:
            assert quote.price_usd == sum(part.price_usd for part in parts)


def test_rates_are_dense_with_fp32_accumulate(catalog: Catalog) -> None:
    """Slips that datasheets invite: rates with sparsity or with FP16 accumulate."""
    for gpu in catalog.gpus:
        rates = (gpu.fp32_tflops, gpu.tf32_tflops, gpu.fp16_tflops, gpu.fp8_tflops)
        for slower, faster in itertools.pairwise(rates):
            assert slower is None or faster is None or slower <= 1.01 * faster, gpu.name
        assert None in (gpu.fp16_tflops, gpu.bf16_tflops) or gpu.fp16_tflops == gpu.bf16_tflops


def test_every_shipped_source_says_something(catalog: Catalog) -> None:
    words = [gpu.field_sources for gpu in catalog.gpus]
    words += [host.spec_source or "" for host in catalog.hosts]
    words += [row.source_id for row in (*catalog.quotes, *catalog.rentals)]
    words += [part.source_id for host in catalog.hosts for part in host.parts]
    words += [point.source_id for points in load_points().values() for point in points]
    words += MARGIN_SOURCES
    said = " ".join(words)
    assert {*MARGIN_SOURCES, *words[-len(MARGIN_SOURCES) :]} <= {
        s.source_id for s in catalog.sources
    }
    assert [source.source_id for source in catalog.sources if source.source_id not in said] == []
