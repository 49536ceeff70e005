"""Machines and prices of 2025 and 2026: which card fits, what it draws, how old a price is."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from price_catalog.builds import (
    COOLINGS,
    TAKES,
    Build,
    enumerate_builds,
    find_obstacle,
    not_known,
)
from price_catalog.load import load_catalog
from price_catalog.model import Gpu, Host
from price_catalog.power import LEAST_EFFICIENCY, Supply, is_estimated, power_figures, wall_w
from price_catalog.power_limits import on_circuit
from price_catalog.providers import provider_name, rental_kind

CATALOG = load_catalog()
CARDS = [gpu for gpu in CATALOG.gpus if gpu.form_factor.startswith("PCIe")]
BARE = [host for host in CATALOG.hosts if host.gpu_id is None]
WHOLE = [host for host in CATALOG.hosts if host.gpu_id is not None]
BY_ID = {gpu.gpu_id: gpu for gpu in CATALOG.gpus}


def whole(host: Host) -> Build:
    assert host.gpu_id is not None
    return Build(gpu=BY_ID[host.gpu_id], gpu_count=host.max_gpus, host=host)


hosts = st.builds(
    Host,
    host_id=st.just("h"),
    name=st.just("h"),
    kind=st.sampled_from(["desktop", "server"]),
    max_gpus=st.sampled_from([1, 2, 4, 8]),
    parts=st.just(()),
    takes=st.lists(st.sampled_from(TAKES), unique=True).map(tuple),
    open_gpus=st.none() | st.integers(1, 5),
    slot_width=st.none() | st.integers(1, 4),
    max_gpu_w=st.none() | st.floats(100, 700),
    psu_w=st.none() | st.floats(500, 9000),
    base_w=st.none() | st.floats(50, 900),
    memory_gib=st.none() | st.sampled_from([16.0, 128.0, 512.0]),
)


@given(hosts, st.sampled_from(CARDS), st.sampled_from([1, 2, 4, 8]))
def test_a_flow_through_card_and_an_open_one_of_the_same_watts_are_treated_alike(
    host: Host, card: Gpu, count: int
) -> None:
    flow, opened = (replace(card, cooling=how) for how in ("flow-through", "open-air"))
    assert find_obstacle(flow, count, host) == find_obstacle(opened, count, host)
    assert not_known(flow, count, host) == not_known(opened, count, host)


@given(hosts, st.sampled_from(CATALOG.gpus))
def test_a_build_is_in_one_of_three_states(host: Host, card: Gpu) -> None:
    for build in enumerate_builds([card], [host]):
        assert build.obstacle is None or build.unknown == ()
        if build.obstacle is None and not build.unknown:
            # Sold as fitting, every key fact is stated.
            assert build.host.takes
            assert card.cooling in COOLINGS
            assert host.psu_w is not None
            assert host.memory_gib is not None
            assert host.kind == "desktop" or host.max_gpu_w is not None


@given(hosts, st.sampled_from(CARDS), st.sampled_from([1, 2, 4, 8]), st.data())
def test_a_fact_more_never_hides_an_obstacle(
    host: Host, card: Gpu, count: int, data: st.DataObject
) -> None:
    """What is not known is never what keeps a build from being refused, once it is known."""
    field = data.draw(st.sampled_from(["slot_width", "max_gpu_w", "psu_w", "memory_gib"]))
    without = replace(host, **{field: None})
    if find_obstacle(card, count, without) is not None:
        assert find_obstacle(card, count, host) is not None


def test_what_the_maker_names_fits_the_machine() -> None:
    for host in BARE:
        for gpu_id in host.supported:
            gaps = not_known(BY_ID[gpu_id], host.max_gpus, host)
            assert not {"cooling", "slots", "power per card"} & set(gaps), host.host_id


def test_a_chassis_holds_fewer_cards_that_blow_into_the_case() -> None:
    chassis = next(host for host in BARE if host.host_id == "thinkmate-qh24")
    builds = enumerate_builds([BY_ID["rtx-5090"], BY_ID["l40s"]], [chassis])
    assert [(build.gpu.gpu_id, build.gpu_count) for build in builds] == [
        ("rtx-5090", 4),
        ("l40s", 8),
    ]
    assert "inference" in (chassis.note or "")


def test_no_maker_s_figure_is_above_the_estimate_for_such_a_machine() -> None:
    stated = [host for host in WHOLE if host.wall_w is not None and host.max_gpus > 1]
    assert len(stated) >= 8
    for host in stated:
        unstated = replace(host, wall_w=None, psu_w=None)
        guess = wall_w(whole(unstated))
        assert guess is not None
        assert host.wall_w is not None
        assert guess >= host.wall_w, host.host_id
        assert power_figures(whole(host)).basis == "stated"
        assert power_figures(whole(unstated)).basis == "estimated"


@given(hosts, st.sampled_from(CARDS), st.sampled_from([1, 2, 4, 8]))
def test_what_is_not_stated_is_never_counted_as_nothing(host: Host, card: Gpu, count: int) -> None:
    build = Build(gpu=card, gpu_count=count, host=host)
    watts, tdp_w = wall_w(build), card.tdp_w
    assert tdp_w is not None
    assert watts is not None
    assert is_estimated(build) == (host.base_w is None or host.psu_efficiency is None)
    room_w = None if host.psu_w is None else host.psu_w - tdp_w * count
    if room_w is None or room_w > 0:
        assert watts > tdp_w * count
    if host.base_w is None and room_w is not None and room_w > 0 and host.psu_w is not None:
        assert watts <= host.psu_w / (host.psu_efficiency or LEAST_EFFICIENCY) + 1e-6


def test_a_measured_gpu_changes_only_the_gpus_share_of_a_stated_figure() -> None:
    dgx = next(host for host in WHOLE if host.host_id == "dgx-h100")
    assert wall_w(whole(dgx), 700.0) == 10_200
    assert wall_w(whole(dgx), 600.0) == 10_200 - 8 * 100


def test_a_circuit_does_not_judge_an_unknown_power() -> None:
    card = replace(BY_ID["rtx-a6000"], tdp_w=None)
    build = Build(gpu=card, gpu_count=4, host=BARE[0])
    (judged,) = on_circuit([build], Supply(120, 15))
    assert judged.obstacle is None
    assert judged.unknown == ("what it draws",)


def test_a_price_in_another_currency_is_converted_at_one_dated_rate() -> None:
    euro = [
        quote
        for quote in CATALOG.quotes
        if quote.quote_id.startswith("shelf-2026:") and quote.currency == "EUR"
    ]
    assert len(euro) >= 6
    for quote in euro:
        assert quote.price_quoted is not None
        assert quote.price_usd == (quote.price_quoted * Decimal("1.1403")).quantize(Decimal("0.01"))
        assert "ECB" in (quote.note or "")
    assert {quote.currency for quote in CATALOG.quotes} == {"USD", "EUR"}


@pytest.mark.parametrize(
    ("spelling", "name", "peer"),
    [
        ("Vast.ai", "vast-ai", True),
        ("Lambda Labs", "lambda", False),
        ("RunPod Community", "runpod-community", True),
        ("Somebody New", "somebody-new", False),
        ("LAMBDA-LABS, Inc.", "lambda", False),
        ("Google Cloud Platform", "gcp", False),
        ("Amazon Web Services", "aws", False),
        ("VAST AI, Inc.", "vast-ai", True),
        ("RunPod Community Cloud", "runpod-community", True),
        ("RunPod Secure Cloud", "runpod", False),
        ("?!", "?!", False),
    ],
)
def test_one_provider_under_two_spellings_is_one(spelling: str, name: str, peer: bool) -> None:
    assert provider_name(spelling) == name
    assert provider_name(name) == name
    assert (rental_kind(spelling, "on-demand") == "peer") == peer


def test_strangers_machines_are_a_kind_of_their_own() -> None:
    kinds = defaultdict(set)
    for rental in CATALOG.rentals:
        assert rental.provider == provider_name(rental.provider)
        kinds[rental_kind(rental.provider, "on-demand") == "peer"].add(rental.kind)
    assert kinds[True] == {"peer"}
    assert "peer" not in kinds[False]
