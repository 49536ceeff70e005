from __future__ import annotations

from dataclasses import replace

import pytest

from price_catalog.builds import (
    GPU_COUNTS,
    Build,
    enumerate_builds,
    find_obstacle,
    holds,
    not_known,
)
from price_catalog.load import Catalog
from price_catalog.model import Gpu, Host

PAPER_HOSTS = ("desktop-1gpu", "desktop-2gpu", "server-4gpu", "server-8gpu")


def gpu(catalog: Catalog, gpu_id: str) -> Gpu:
    return next(gpu for gpu in catalog.gpus if gpu.gpu_id == gpu_id)


def host(catalog: Catalog, host_id: str) -> Host:
    return next(host for host in catalog.hosts if host.host_id == host_id)


def own(gpu_id: str, count: int) -> Host:
    return Host(
        host_id=f"own:{count}x{gpu_id}",
        name="your machine",
        kind="owned",
        max_gpus=count,
        parts=(),
        gpu_id=gpu_id,
    )


def test_the_paper_s_sixteen_builds_at_its_word(catalog: Catalog) -> None:
    paper = {quote.item_id for quote in catalog.quotes if quote.price_set == "paper"}
    gpus = [gpu for gpu in catalog.gpus if gpu.gpu_id in paper]
    hosts = [host for host in catalog.hosts if host.host_id in paper]
    builds = enumerate_builds(gpus, hosts, checked=False)
    assert len(builds) == 16
    assert all(build.obstacle is None for build in builds)
    assert [(build.gpu.name, build.gpu_count, build.host.host_id) for build in builds[:4]] == [
        ("RTX 3090", 1, "desktop-1gpu"),
        ("RTX 3090", 2, "desktop-2gpu"),
        ("RTX 3090", 4, "server-4gpu"),
        ("RTX 3090", 8, "server-8gpu"),
    ]


def test_every_build_fills_its_host(catalog: Catalog) -> None:
    builds = enumerate_builds(catalog.gpus, catalog.hosts)
    servers = [host for host in catalog.hosts if host.gpu_id is not None]
    assert len(servers) > 5
    bare = [host for host in catalog.hosts if host.gpu_id is None]
    held = sum(holds(host, gpu) in GPU_COUNTS for gpu in catalog.gpus for host in bare)
    assert len(builds) == held + len(servers)
    assert all(
        build.gpu_count == build.host.max_gpus
        or (build.gpu_count, build.host.gpu_id) == (build.host.open_gpus, None)
        for build in builds
    )
    assert len(set(builds)) == len(builds)


@pytest.mark.parametrize(
    ("gpu_id", "host_id", "says"),
    [
        ("rtx-a6000", "desktop-2gpu", None),
        ("rtx-a6000", "server-8gpu", None),
        ("rtx-3090", "desktop-2gpu", None),
        ("a100-pcie-80gb", "server-8gpu", None),
        ("a100-sxm4-80gb", "server-8gpu", "SXM4 parts come only on boards and in whole servers"),
        ("mi300x", "server-8gpu", "OAM parts come only on boards"),
        ("a100-pcie-80gb", "desktop-1gpu", "a server's air"),
        ("rtx-3090", "server-8gpu", "does not fit the bays of a server"),
        ("rtx-4090", "server-4gpu", "does not fit the bays of a server"),
        ("rtx-pro-6000-blackwell-ws", "server-8gpu", "does not fit the bays of a server"),
        ("rtx-pro-6000-blackwell-ws", "ws-trx50-2gpu", None),
        ("rtx-pro-6000-blackwell-ws", "ws-wrx90-4gpu", "heats the next one"),
        ("rtx-pro-6000-blackwell-maxq", "ws-wrx90-4gpu", None),
        ("rtx-3090", "ws-wrx90-4gpu", "heats the next one"),
        ("rtx-pro-6000-blackwell-se", "dell-xe7745", None),
        ("rtx-pro-6000-blackwell-se", "ws-trx50-1gpu", "a server's air"),
    ],
)
def test_what_can_be_put_together(
    catalog: Catalog, gpu_id: str, host_id: str, says: str | None
) -> None:
    machine = host(catalog, host_id)
    found = find_obstacle(gpu(catalog, gpu_id), machine.max_gpus, machine)
    assert found is None if says is None else says in (found or "")


def test_each_check_alone(catalog: Catalog) -> None:
    card = gpu(catalog, "rtx-3090")
    desktop = host(catalog, "desktop-2gpu")
    assert find_obstacle(card, 2, desktop) is None
    assert "3 slots" in (find_obstacle(card, 2, replace(desktop, slot_width=2)) or "")
    limit = replace(desktop, max_gpu_w=300.0)
    assert "a card draws 350 W" in (find_obstacle(card, 2, limit) or "")
    assert "825 W" in (find_obstacle(card, 2, replace(desktop, psu_w=800.0)) or "")
    assert "offloading wants 128" in (
        find_obstacle(card, 2, replace(desktop, memory_gib=64.0)) or ""
    )
    unknown = Host(host_id="x", name="x", kind="server", max_gpus=2, parts=())
    assert find_obstacle(card, 2, unknown) is None
    # What comes on a board is no card, however little is known of the machine.
    assert "only on boards" in (find_obstacle(gpu(catalog, "h100-sxm5-80gb"), 2, unknown) or "")


def test_what_no_source_states_is_said_to_be_unknown(catalog: Catalog) -> None:
    card = gpu(catalog, "rtx-3090")
    assert not_known(card, 2, host(catalog, "desktop-2gpu")) == ("slots",)
    assert not_known(card, 1, host(catalog, "desktop-1gpu")) == ()  # its width is no question
    a6000 = gpu(catalog, "rtx-a6000")
    assert not_known(a6000, 4, host(catalog, "server-4gpu")) == ("power per card",)
    assert not_known(a6000, 8, host(catalog, "server-8gpu")) == ("slots", "power per card")
    unknown = Host(host_id="x", name="x", kind="server", max_gpus=2, parts=())
    everything = ("cooling", "slots", "power per card", "power supply", "memory")
    assert not_known(card, 2, unknown) == everything
    assert not_known(replace(card, cooling=None), 1, unknown)[0] == "cooling"
    # What the maker names fits, and the maker sells the supplies for it; the memory is another
    # question. Supplies that are stated and too weak still speak against it.
    named = replace(unknown, supported=(card.gpu_id,))
    assert not_known(card, 2, named) == ("memory",)
    assert "power supplies" in (find_obstacle(card, 2, replace(named, psu_w=400.0)) or "")
    # 2 x 350 W leave 100 W of 800 for processors that nobody states.
    tight = replace(named, psu_w=800.0, memory_gib=128.0)
    assert not_known(card, 2, tight) == ("processor power",)
    assert not_known(card, 2, replace(tight, base_w=90.0)) == ()
    assert not_known(gpu(catalog, "h100-sxm5-80gb"), 8, host(catalog, "dgx-h100")) == ()


def test_owned_gpus_stay_where_they_are_and_count_towards_larger_machines(
    catalog: Catalog,
) -> None:
    card = gpu(catalog, "rtx-a6000")
    hosts = [host for host in catalog.hosts if host.host_id in PAPER_HOSTS]
    builds = enumerate_builds([card], [*hosts, own("rtx-a6000", 2)])
    found = [(b.gpu_count, b.host.host_id, b.gpus_owned, b.host_owned) for b in builds]
    assert found == [
        (1, "desktop-1gpu", 0, False),
        (2, "desktop-2gpu", 0, False),
        (2, "own:2xrtx-a6000", 2, True),
        (4, "server-4gpu", 2, False),
        (8, "server-8gpu", 2, False),
    ]
    assert not any(isinstance(build, Build) and build.obstacle for build in builds)
