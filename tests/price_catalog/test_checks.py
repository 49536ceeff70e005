from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from price_catalog.checks import check_catalog
from price_catalog.load import Catalog
from price_catalog.model import Gpu, Quote
from price_catalog.power import MARGIN_SOURCES
from price_catalog.power_limits import load_points

TODAY = date(2026, 11, 21)


def rules(catalog: Catalog) -> list[tuple[str, str]]:
    return [(problem.rule, problem.where) for problem in check_catalog(catalog, today=TODAY)]


def with_quote(catalog: Catalog, **fields: object) -> Catalog:
    """The catalogue with its first quote (the RTX 3090's) changed."""
    first, *rest = catalog.quotes
    return replace(catalog, quotes=(first._replace(**fields), *rest))  # type: ignore[arg-type]


def with_gpu(catalog: Catalog, gpu_id: str, **fields: object) -> Catalog:
    def change(gpu: Gpu) -> Gpu:
        return replace(gpu, **fields) if gpu.gpu_id == gpu_id else gpu  # type: ignore[arg-type]

    return replace(catalog, gpus=tuple(change(gpu) for gpu in catalog.gpus))


def test_the_shipped_catalogue_holds_together(catalog: Catalog) -> None:
    assert check_catalog(catalog, today=date.today()) == ()


def test_every_shipped_source_says_something(catalog: Catalog) -> None:
    words = [gpu.field_sources for gpu in catalog.gpus]
    words += [host.spec_source or "" for host in catalog.hosts]
    words += [row.source_id for row in (*catalog.quotes, *catalog.rentals)]
    words += [part.source_id for host in catalog.hosts for part in host.parts]
    words += [point.source_id for points in load_points().values() for point in points]
    words += MARGIN_SOURCES
    said = " ".join(words)
    assert [source.source_id for source in catalog.sources if source.source_id not in said] == []


@pytest.mark.parametrize(
    ("host_id", "wall_w", "psu_w", "psu_count", "rack_units", "memory_gib"),
    [
        ("dgx-a100-320gb", 6_500, 6 * 3_000, 6, 6, 1024),
        ("dgx-a100-640gb", 6_500, 6 * 3_000, 6, 6, 2048),
        ("dgx-h100", 10_200, 6 * 3_300, 6, 8, 2048),
        ("dgx-b200", 14_300, 6 * 3_300, 6, 10, 2048),
    ],
)
def test_a_dgx_is_as_nvidia_documents_it(
    catalog: Catalog,
    host_id: str,
    wall_w: float,
    psu_w: float,
    psu_count: int,
    rack_units: float,
    memory_gib: float,
) -> None:
    (dgx,) = (host for host in catalog.hosts if host.host_id == host_id)
    assert (dgx.wall_w, dgx.psu_w, dgx.psu_count) == (wall_w, psu_w, psu_count)
    assert (dgx.rack_units, dgx.memory_gib) == (rack_units, memory_gib)
    assert "public-spec-table" not in (dgx.spec_source or "")


def test_a_second_record_with_the_same_id(catalog: Catalog) -> None:
    twice = replace(catalog, hosts=(*catalog.hosts, catalog.hosts[0]))
    assert rules(twice) == [("duplicate", "host desktop-1gpu")]


def test_the_same_quote_under_another_id(catalog: Catalog) -> None:
    again = catalog.quotes[0]._replace(quote_id="again", vendor="Resale sites (e.g. eBay)")
    assert rules(replace(catalog, quotes=(*catalog.quotes, again))) == [
        ("duplicate", "quote again")
    ]


def test_an_ambiguous_spelling(catalog: Catalog) -> None:
    assert rules(with_gpu(catalog, "rtx-4090", aliases=("3090",))) == [
        ("duplicate", "gpu rtx-4090")
    ]


def test_a_figure_without_a_source(catalog: Catalog) -> None:
    assert rules(with_gpu(catalog, "rtx-3090", nvlink_gb_s=112.5)) == [
        ("unsourced", "gpu rtx-3090, nvlink_gb_s")
    ]


def test_a_machine_s_figure_without_a_source(catalog: Catalog) -> None:
    hosts = [
        replace(host, max_gpu_w=350.0) if host.host_id == "server-8gpu" else host
        for host in catalog.hosts
    ]
    assert rules(replace(catalog, hosts=tuple(hosts))) == [
        ("unsourced", "host server-8gpu, max_gpu_w")
    ]
    hosts = [
        replace(host, spec_source="wall_w=memory; rack_units=memory; memory_gib=memory")
        if host.host_id == "dgx-b200"
        else host
        for host in catalog.hosts
    ]
    assert {rule for rule, _ in rules(replace(catalog, hosts=tuple(hosts)))} == {"unsourced"}


def test_a_quote_without_a_source(catalog: Catalog) -> None:
    (problem,) = check_catalog(with_quote(catalog, source_id="hearsay"), today=TODAY)
    assert problem.rule == "unsourced"
    assert str(problem) == (
        "quote paper-table5:rtx-3090: source 'hearsay' is not among the sources; add it there"
    )


def test_a_quote_for_something_unknown(catalog: Catalog) -> None:
    assert rules(with_quote(catalog, item_id="rtx-9999")) == [
        ("dangling", "quote paper-table5:rtx-3090")
    ]
    assert rules(with_quote(catalog, item_kind="chair")) == [
        ("dangling", "quote paper-table5:rtx-3090")
    ]


@pytest.mark.parametrize("price", ["-1300", "0", "13", "1300000"])
def test_a_price_that_nobody_pays_for_one_gpu(catalog: Catalog, price: str) -> None:
    assert rules(with_quote(catalog, price_usd=Decimal(price))) == [
        ("price", "quote paper-table5:rtx-3090")
    ]


def test_a_sum_that_is_not_the_sum(catalog: Catalog) -> None:
    def off_by_a_cent(quote: Quote) -> Quote:
        if quote.quote_id != "paper-table6:desktop-1gpu":
            return quote
        return quote._replace(price_usd=quote.price_usd + Decimal("0.01"))

    changed = replace(catalog, quotes=tuple(off_by_a_cent(quote) for quote in catalog.quotes))
    assert rules(changed) == [("sum", "quote paper-table6:desktop-1gpu")]


def test_a_day_that_has_not_come(catalog: Catalog) -> None:
    tomorrow = TODAY + timedelta(days=1)
    assert rules(with_quote(catalog, quoted_on=TODAY)) == []
    assert rules(with_quote(catalog, quoted_on=tomorrow)) == [
        ("future", "quote paper-table5:rtx-3090")
    ]


def test_a_rate_with_sparsity_or_fp16_accumulate(catalog: Catalog) -> None:
    # 330 is the RTX 4090's FP16 rate with FP16 accumulate, 1979 the H100's FP8.
    assert rules(with_gpu(catalog, "rtx-4090", fp16_tflops=330.0)) == [("rate", "gpu rtx-4090")]
    assert ("rate", "gpu h100-sxm5-80gb") in rules(
        with_gpu(catalog, "h100-sxm5-80gb", tf32_tflops=1979.0)
    )
